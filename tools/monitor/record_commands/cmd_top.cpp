// SPDX-License-Identifier: MIT
// `monitor top`: what the machine does now: a recording that writes nothing, its time windows (answers/live/), and
// their display (answers/top/).
#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "answers/live/refresh.h"
#include "answers/report/named_stacks.h"
#include "answers/top/row_filter.h"
#include "answers/top/text.h"
#include "answers/top/top.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "commands.h"
#include "common_options.h"
#include "live_recording.h"
#include "option_texts.h"
#include "problems.h"
#include "recording/pmu/selection.h"
#include "recording/session/recording.h"
#include "stack_options.h"
#include "terminal.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;

constexpr auto frame_time = 50ms;

const std::map<std::string, report::GroupBy> rows_by = {{"process", report::GroupBy::process},
							{"thread", report::GroupBy::thread},
							{"command", report::GroupBy::command},
							{"cgroup", report::GroupBy::cgroup}};

struct TopArguments {
	LiveOptions live;
	std::string output, by = "process", rows_where, measurements;
	std::optional<record::Counting> counting; // of measurements
	std::optional<top::RowFilter> filter;     // of rows_where
	std::uint64_t refreshes = 0;              // 0: until it is ended
	std::size_t rows = report::rows_in_text;
	std::string details; // a process
	StackArguments stacks;
	bool user = false, virtual_times = false;
	bool batch = false, json = false, force = false;
};

// Counters are also read every tenth of a window, for threads that run without a switch.
void parse_measurements(TopArguments &arguments, std::uint64_t window_ns)
{
	if (arguments.measurements.empty())
		return;
	arguments.counting.emplace().every_ns = window_ns / 10;
	arguments.counting->selection = pmu::select(split(arguments.measurements));
	for (const std::string &note : arguments.counting->selection.notes)
		print_error(note);
}

std::vector<top::FigureColumn> columns_of(const TopArguments &arguments)
{
	std::vector<top::Measure> measures;
	if (arguments.counting)
		for (const pmu::Measurement &each : arguments.counting->selection.measurements)
			measures.push_back({each.name, each.unit, each.per == pmu::Per::nothing});
	return top::figure_columns(measures, arguments.virtual_times);
}

// As in report::was_recorded() for a finished recording.
live::StackKinds kinds_of(const card::StackOptions &stacks)
{
	const auto has = [&](const char *name) {
		return std::ranges::find(stacks.events, name) != stacks.events.end();
	};
	const auto is_other = [&](const std::string &name) {
		return name != "sched_switch" && !name.starts_with("page_fault_");
	};
	live::StackKinds kinds;
	for (const auto &[name, by] : report::stack_groupings) {
		const bool is_recorded = by == report::StackBy::cpu      ? stacks.timer_hz != 0
					 : by == report::StackBy::offcpu ? has("sched_switch")
					 : by == report::StackBy::wait   ? has("sched_switch") && has("sched_waking")
					 : by == report::StackBy::fault
					     ? has("page_fault_user") || has("page_fault_kernel")
					     : std::ranges::any_of(stacks.events, is_other);
		if (is_recorded)
			kinds.emplace_back(name, by);
	}
	return kinds;
}

record::Options options_of(const TopArguments &arguments)
{
	record::Options options = arguments.live.record_options("top");
	if (!arguments.output.empty()) {
		options.kept = record::Kept::trace;
		options.output = arguments.output;
	}
	options.force = arguments.force;
	options.counting = arguments.counting;
	options.everyone = arguments.user;
	if (arguments.stacks.any())
		options.stacks = arguments.stacks.options();
	return options;
}

top::Status status_of(const LiveRecording &running)
{
	return {running.lost(), running.is_over()};
}

void name_cgroups_of(const live::Refresh &refresh, CgroupNaming &naming)
{
	if (refresh.has_unnamed_cgroups)
		naming.look_up_if_due();
}

// Until the recording ends, or for the requested number of refreshes.
void print_refreshes(live::Refreshes &refreshes, const LiveRecording &running, CgroupNaming &naming,
		     const TopArguments &arguments)
{
	const top::RowFilter *const filter = arguments.filter ? &*arguments.filter : nullptr;
	std::uint64_t seen = 0;
	while (!running.is_over() && (arguments.refreshes == 0 || seen < arguments.refreshes)) {
		const auto refresh = refreshes.next(seen, 1h);
		if (!refresh)
			continue;
		const top::Status status = status_of(running);
		const std::string text = arguments.json
					     ? top::refresh_json(*refresh, status, filter) + "\n"
					     : (seen ? "\n" : "") + top::refresh_text(*refresh, status, arguments.rows,
										      terminal_width(), filter);
		seen = refresh->number;
		name_cgroups_of(*refresh, naming);
		if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
			break; // main() reports the error
	}
}

std::string host_and_kernel()
{
	std::string host = read_text("/proc/sys/kernel/hostname"), kernel = read_text("/proc/sys/kernel/osrelease");
	for (std::string *text : {&host, &kernel})
		text->resize(std::min(text->find('\n'), text->size()));
	return host + ", Linux " + kernel;
}

int show_on_screen(live::Refreshes &refreshes, const LiveRecording &running, CgroupNaming &naming,
		   const TopArguments &arguments, const live::Wanted &wanted)
{
	std::setlocale(LC_CTYPE, "");
	std::uint64_t shown = 0;
	top::Top top({.next =
			  [&](std::uint64_t seen) {
				  auto newest = refreshes.next(seen, 0ms);
				  if (newest) {
					  shown = newest->number;
					  name_cgroups_of(*newest, naming);
				  }
				  return shown > arguments.refreshes && arguments.refreshes ? nullptr : newest;
			  },
		      .want = [&](const live::Wanted &now) { refreshes.want(now); },
		      .status =
			  [&] {
				  top::Status status = status_of(running);
				  status.is_over |= arguments.refreshes && shown > arguments.refreshes;
				  return status;
			  }},
		     fmt::format("monitor top - {}, each {}{}", host_and_kernel(), arguments.live.delay,
				 arguments.live.selection.empty() ? "" : ", of process " + arguments.live.selection),
		     wanted, columns_of(arguments), arguments.filter, locale_is_utf8());
	return terminal::show(top, frame_time, "--batch prints the same as text");
}

// Returns the exit code.
int run_top(TopArguments &arguments)
{
	const std::uint64_t window_ns = arguments.live.window_ns();
	parse_measurements(arguments, window_ns);
	if (!arguments.rows_where.empty())
		arguments.filter.emplace(arguments.rows_where, columns_of(arguments));
	const bool prints = arguments.batch || arguments.json;
	if (!prints && !::isatty(STDOUT_FILENO))
		throw Error(
		    "the screen needs a terminal, and standard output is not one: --batch prints the same as text");
	if (!arguments.details.empty() && !prints)
		throw Error("--details is for --batch and --json; on the screen the key d shows those of a row");
	const int followed = arguments.details.empty() ? 0 : parse_process(arguments.details, "--details");
	if (arguments.virtual_times && arguments.live.no_calibration)
		throw Error("--virtual needs to know what an event costs: leave out --no-calibration");
	if (arguments.virtual_times && arguments.stacks.any())
		throw Error("--virtual: what a stack costs differs from stack to stack: leave out --stacks");
	live::Refreshes refreshes(window_ns);
	if (arguments.virtual_times)
		refreshes.compensate();
	if (prints)
		refreshes.keep_all();
	record::Options options = options_of(arguments);
	options.live = refreshes.fold();
	refreshes.name_stacks(kinds_of(options.stacks));
	live::Wanted wanted;
	wanted.by = rows_by.at(arguments.by);
	wanted.followed = followed;
	refreshes.want(wanted);
	LiveRecording running(options, [&] { refreshes.end(); });
	if (const std::string why = refreshes.why_not_virtual(); !why.empty()) {
		running.stop();
		throw Error("--virtual: " + why);
	}
	CgroupNaming naming(running, [&](CgroupNaming::Paths paths) { refreshes.name_cgroups(std::move(paths)); });
	int signal = 0;
	if (prints)
		print_refreshes(refreshes, running, naming, arguments);
	else
		signal = show_on_screen(refreshes, running, naming, arguments, wanted);
	running.stop();
	if (running.result().failed) {
		print_error(running.result().end_reason);
		return exit_monitor_failed;
	}
	if (options.kept == record::Kept::trace)
		print_note("monitor: the trace is in {}\n", printable(running.directory()));
	return signal ? 128 + signal : 0;
}

} // namespace

void add_top(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("top", "show what the machine does now");
	auto arguments = std::make_shared<TopArguments>();
	add_option(*command, "-d,--delay", "TIME", arguments->live.delay,
		   "figures are of this much time each (default: 1s)");
	add_option(*command, "-n", "N", arguments->refreshes, "end after this many of them")
	    ->check(CLI::Range(std::uint64_t{1}, ~std::uint64_t(0)));
	command->add_flag("--batch", arguments->batch, "print them as text, one after the other");
	command->add_flag("--json", arguments->json, "print each as a line of JSON");
	command->add_option("--by", arguments->by, "a row for each process (default), thread, command or cgroup")
	    ->check(CLI::IsMember({"process", "thread", "command", "cgroup"}));
	add_option(*command, "--rows", "EXPRESSION", arguments->rows_where,
		   "only rows of which this is true, in FDL; its names: name, pid, tid, cpu, user, kernel, wait, "
		   "sleep, switches, calls, faults, migrations, irq, softirq, unknown, throttled, and those of -m and "
		   "--virtual");
	add_option(*command, "--top", "N", arguments->rows, "rows of text with --batch (default: 40; 0: all)")
	    ->check(row_count_error);
	add_option(*command, "-p", "PID|NAME,...", arguments->live.selection,
		   "only these processes and their descendants, by number or name");
	add_option(*command, "-e", "FAMILY,...", arguments->live.families,
		   "event families, or default or light, as of monitor record");
	add_option(*command, "-m,--measure", "GROUP,...", arguments->measurements,
		   "columns of what counters measure: groups such as cpu,cache, or NAME=FORMULA, as of monitor record");
	command->add_flag("--virtual", arguments->virtual_times,
			  "CPU and waiting times as if nobody measured, too, and their range");
	command->add_flag("--user", arguments->user,
			  "activities of every instrumented program, too: in the details of a row");
	add_stack_options(*command, arguments->stacks, "stacks of the chosen row or of --details, for the key s");
	add_option(*command, "--details", "PID", arguments->details,
		   "with --batch or --json: also the calls, sleeps, activities and stacks of this process");
	command->add_option("--card", arguments->live.card, "bpf, module; auto: as of monitor record")
	    ->check(CLI::IsMember({"auto", "bpf", "module"}));
	add_option(*command, "--buffer", "SIZE", arguments->live.buffer, "memory for the rings, as of monitor record");
	add_option(*command, "-o", "DIR", arguments->output, "record the trace, too, into this directory");
	command->add_flag("--force", arguments->force, "with -o: replace a trace that is there");
	command->add_flag("--no-calibration", arguments->live.no_calibration, "do not measure what an event costs");
	command->footer(
	    "Figures are exact: each switch, call and fault is counted. Nothing is written without -o.\n"
	    "Keys: enter shows what a row is made of, escape goes back, p t c g u choose processes, threads,\n"
	    "commands, cgroups or CPUs, d shows details of a row, s its stacks, / finds, \\ takes an expression\n"
	    "for the rows, < > sort, space holds still, ? shows all keys, q quits. What is not known is -, never 0.\n"
	    "Exit code: 0, 125 if the recording failed.\n"
	    "Examples:\n"
	    "  sudo monitor top\n"
	    "  sudo monitor top --by cgroup -d 5s\n"
	    "  sudo monitor top --batch -n 3 --top 10\n"
	    "  sudo monitor top --rows 'cpu > 5 and name ~ \"nginx*\"'\n"
	    "  sudo monitor top --json -p 1234\n"
	    "  sudo monitor top --user --batch --details 1234\n"
	    "  sudo monitor top --stacks              s: which functions a row runs and sleeps in\n"
	    "  sudo monitor top --stacks=cpu --rate 99 --json --details 1234\n"
	    "  sudo monitor top -m cpu                with instructions per cycle and the like\n"
	    "  sudo monitor top --virtual             also as if the monitor did not run\n"
	    "  sudo monitor top -e sched              without system calls and faults: it costs least");
	command->callback([arguments, &exit_code] { exit_code = run_top(*arguments); });
}

} // namespace monitor
