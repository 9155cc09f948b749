// SPDX-License-Identifier: MIT
#include "report_arguments.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "number_of_rows.h"
#include "tdl_option.h"

namespace monitor {
namespace {

const std::vector<std::string> usual_groupings = {"process", "thread", "cpu", "command", "cgroup"};
const Report reports[] = {
    {"cpu", What::cpu, "who used the CPUs, in which mode, and what they waited for (default)", usual_groupings},
    {"syscalls", What::syscalls, "system calls by process and call", {}},
    {"offcpu", What::offcpu, "time blocked, by thread, system call and waker", {}},
    {"activities",
     What::activities,
     "activities of instrumented programs",
     {"process", "thread", "caller", "argument"}},
    {"ratios", What::ratios, "what `record -m` counted", usual_groupings},
    {"segments",
     What::segments,
     "what was counted between the events of `record --reset-on`",
     {"process", "thread", "cpu"}},
    {"samples", What::samples, "what the CPUs were doing when `record --sample-every` sampled them, by process", {}},
    {"stacks",
     What::stacks,
     "where in programs and the kernel: functions and calls (`record --stacks`)",
     {"cpu", "offcpu", "wait", "fault", "other"}},
    {"counts", What::counts, "what `record --count` counted and --time timed", {"count", "cpu", "time"}},
    {"triggers", What::triggers, "when the triggers of `record --trigger` fired, and why", {}},
    {"requests",
     What::requests,
     "requests across hosts: their steps, the slowest ones, and how sure that is (--key)",
     {"step", "host"}},
    {"help", What::help, "this list", {}},
};

const std::vector<std::string> all_groupings = {"process",  "thread", "cpu",    "command", "cgroup",
						"argument", "caller", "offcpu", "wait",    "fault",
						"other",    "count",  "time",   "step",    "host"};

// The virtual clocks run over the whole recording.
void expect_fitting_virtual(const ReportArguments &arguments)
{
	const Selection &selection = arguments.selection;
	if (!arguments.is(What::cpu))
		throw CLI::ValidationError(
		    "--virtual needs the report cpu: times of other reports are not compensated");
	if (arguments.by == "cpu")
		throw CLI::ValidationError("--virtual is about threads, whose CPUs have no time in common without the "
					   "probes: leave out --by cpu");
	if (!selection.from.empty() || !selection.to.empty() || !selection.cpus.empty())
		throw CLI::ValidationError("--virtual is about the whole recording: leave out --from, --to and --cpu");
	if (arguments.plot.is_asked())
		throw CLI::ValidationError("--virtual is not drawn: leave out --plot and --svg");
}

// Requests are found by a key, and of all events; other reports need the states of threads.
void expect_fitting_key(const ReportArguments &arguments)
{
	const bool is_of_requests = arguments.is(What::requests);
	if (!arguments.key.empty() && !is_of_requests)
		throw CLI::ValidationError("--key needs the report requests");
	if (arguments.selection.filter && !is_of_requests)
		throw CLI::ValidationError(
		    "--filter needs the report requests: the states of threads need all events; monitor list, stat and "
		    "query filter them");
	if (!is_of_requests)
		return;
	if (arguments.key.empty())
		throw CLI::ValidationError(
		    "the report requests needs --key, the parameter that the events of a request "
		    "have in common, such as --key request");
	if (arguments.plot.is_asked())
		throw CLI::ValidationError("the report requests is not drawn: leave out --plot and --svg");
}

// Some figures are not of a CPU, others not of a thread.
void expect_meaningful(const ReportArguments &arguments)
{
	const Selection &selection = arguments.selection;
	if (!selection.cpus.empty() && arguments.is(What::offcpu))
		throw CLI::ValidationError(
		    "--cpu: a thread that is blocked is on no CPU, so the report offcpu can only "
		    "be limited to times and threads");
	if (!selection.threads.is_all() && arguments.idle)
		throw CLI::ValidationError("--idle is about CPUs, so it can only be limited to times and CPUs");
	if (!selection.threads.is_all() && arguments.by == "cpu" && !arguments.is(What::stacks))
		throw CLI::ValidationError(
		    "--by cpu shows all that ran on a CPU, so it can only be limited to times and "
		    "CPUs, not to threads");
}

} // namespace

void take_report(ReportArguments &arguments)
{
	arguments.report = &reports[0];
	if (!arguments.words.empty())
		for (const Report &report : reports)
			if (arguments.words.back() == report.name) {
				arguments.report = &report;
				arguments.words.pop_back();
				break;
			}
	if (arguments.words.empty() && !arguments.is(What::help))
		throw CLI::ValidationError("name a trace directory");
}

void expect_fitting(ReportArguments &arguments)
{
	const Report &report = *arguments.report;
	if (arguments.folded && !arguments.is(What::stacks))
		throw CLI::ValidationError("--folded needs the report stacks");
	if (arguments.idle && !arguments.is(What::samples))
		throw CLI::ValidationError("--idle needs the report samples");
	if (arguments.lines && !arguments.is(What::stacks))
		throw CLI::ValidationError("--lines needs the report stacks");
	if (!arguments.debug_directories.empty() && !arguments.is(What::stacks))
		throw CLI::ValidationError("--debug-dir needs the report stacks");
	if (!arguments.output.empty() && !arguments.is(What::stacks))
		throw CLI::ValidationError("-o writes a flame graph: it needs the report stacks");
	if (!arguments.output.empty() && arguments.words.size() > 2)
		throw CLI::ValidationError("-o: a flame graph shows one trace, or compares two");
	if (!arguments.every.empty() && !arguments.is(What::ratios))
		throw CLI::ValidationError("--every needs the report ratios");
	if (!arguments.plot.file.empty() && arguments.folded)
		throw CLI::ValidationError("--folded is not drawn: leave out --svg");
	if (arguments.is_virtual)
		expect_fitting_virtual(arguments);
	expect_meaningful(arguments);
	expect_fitting_key(arguments);
	arguments.by_is_chosen = !arguments.by.empty();
	if (arguments.by.empty()) {
		arguments.by = report.by.empty() ? "process" : report.by.front();
		return;
	}
	if (report.by.empty())
		throw CLI::ValidationError(
		    fmt::format("the report {} has rows of its own: leave out --by", report.name));
	if (std::ranges::find(report.by, arguments.by) != report.by.end())
		return;
	const auto groups_so = [&](const Report &other) {
		return std::ranges::find(other.by, arguments.by) != other.by.end();
	};
	if (std::ranges::find(usual_groupings, arguments.by) == usual_groupings.end())
		throw CLI::ValidationError(fmt::format("--by {} needs the report {}", arguments.by,
						       std::ranges::find_if(reports, groups_so)->name));
	throw CLI::ValidationError(fmt::format("{} can be grouped by {} or {}, not by {}", report.name,
					       fmt::join(report.by.begin(), report.by.end() - 1, ", "),
					       report.by.back(), arguments.by));
}

void add_debug_directories(CLI::App &command, std::vector<std::string> &directories)
{
	command
	    .add_option("--debug-dir", directories,
			"of stacks: search symbols and debug information here, too, by build id (default: "
			"/usr/lib/debug)")
	    ->option_text("DIR")
	    ->check(CLI::ExistingDirectory)
	    ->allow_extra_args(false);
}

std::vector<std::string> report_names()
{
	std::vector<std::string> names;
	std::ranges::transform(reports, std::back_inserter(names), &Report::name);
	return names;
}

void print_reports()
{
	for (const Report &report : reports)
		fmt::print("{:<12}{}\n", report.name, report.line);
}

void add_report_options(CLI::App &command, ReportArguments &arguments)
{
	command
	    .add_option("trace", arguments.words, "trace directories, each reported separately; then a report's name")
	    ->required()
	    ->option_text("DIR... [WHAT]");
	add_tdl_option(command, arguments.tdl);
	command
	    .add_option(
		"--by", arguments.by,
		"print a row per process, thread, cpu, command or cgroup; of activities: process, thread, "
		"caller or argument; of segments: process, thread or cpu; of stacks: those on the cpu, offcpu "
		"(blocked), "
		"wait (blocked, and by whom it was ended), at a fault or other events; of requests: step or host")
	    ->check(CLI::IsMember(all_groupings));
	command.add_option("--every", arguments.every, "print ratios for each interval of this length, such as 100ms")
	    ->option_text("TIME");
	add_selection(command, arguments.selection, "report only");
	add_event_filter(command, arguments.selection, "of requests: only");
	command
	    .add_option("--key", arguments.key,
			"of requests: the parameter whose value the events of one have in common")
	    ->option_text("NAME,...");
	command.add_option("--sort", arguments.sort, "sort by this column (default: CPU time or total)")
	    ->option_text("COLUMN");
	command.add_option("--top", arguments.top, "print at most N rows (0: all; default in text: 40)")
	    ->option_text("N")
	    ->check(number_of_rows);
	command.add_flag("--json", arguments.json,
			 "print JSON: {rows, cpus, summary; ratios, measurements}, times in ns");
	command.add_flag("--csv", arguments.csv, "print comma-separated values, times in ns")->excludes("--json");
	command
	    .add_flag("--folded", arguments.folded,
		      "of stacks: a line for each, \"process;function;function COUNT\" (offcpu: microseconds)")
	    ->excludes("--json")
	    ->excludes("--csv");
	command.add_flag("--lines", arguments.lines,
			 "of stacks: tell lines of the source apart, where there is debug information");
	command.add_flag("--idle", arguments.idle,
			 "of samples: print how much of each CPU was idle, by count of samples and by time");
	command.add_flag("--virtual", arguments.is_virtual,
			 "of cpu: print times as if nobody had measured, too, each with the range that it is in");
	add_plot_options(command, arguments.plot)->excludes("--json")->excludes("--csv")->excludes("--folded");
	add_debug_directories(command, arguments.debug_directories);
	command
	    .add_option("-o,--output", arguments.output,
			"of stacks: write flame graphs to this file, a page for a browser; of two traces the second, "
			"coloured by how it differs from the first")
	    ->option_text("FILE.html")
	    ->excludes("--json")
	    ->excludes("--csv")
	    ->excludes("--folded")
	    ->excludes("--sort")
	    ->excludes("--top")
	    ->excludes("--plot")
	    ->excludes("--svg");
	command.footer(
	    "WHAT is the report: cpu (default), syscalls, offcpu, activities, ratios, segments, samples, counts,\n"
	    "stacks, triggers, requests; `help` describes them. A directory of such a name is written ./cpu.\n"
	    "CPU%: of one CPU. user% to unkn%: parts of the row's CPU time. unattr: kernel or user, no token shows\n"
	    "which; unkn: after a loss or before the first token. waiting: runnable but not running.\n"
	    "Examples:\n"
	    "  monitor report DIR\n"
	    "  monitor report DIR --by thread --sort waiting --top 10\n"
	    "  monitor report DIR syscalls --json\n"
	    "  monitor report DIR --virtual --by command\n"
	    "  monitor report DIR --plot --svg cpu.svg\n"
	    "  monitor report DIR ratios --by command --csv\n"
	    "  monitor report DIR segments --by thread\n"
	    "  monitor report DIR activities --by thread\n"
	    "  monitor report DIR stacks --by offcpu\n"
	    "  monitor report DIR stacks -o flame.html\n"
	    "  monitor report RUN requests --key request --by host");
}

} // namespace monitor
