// SPDX-License-Identifier: MIT
// `monitor report`: who used the CPUs, in which mode, what they waited for. One pass of analyze/, printed by report/.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "analyze/activities.h"
#include "analyze/clock_bound.h"
#include "analyze/counter_fold.h"
#include "analyze/machine.h"
#include "analyze/regions.h"
#include "analyze/samples.h"
#include "analyze/segments.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "commands.h"
#include "duration.h"
#include "open.h"
#include "problems.h"
#include "report/measurements_table.h"
#include "report/regions_table.h"
#include "report/samples_table.h"
#include "report/segments_table.h"
#include "report/summary.h"
#include "report/usage_report.h"
#include "tdl_option.h"
#include "trace/text.h"

namespace monitor {
namespace {

struct ReportArguments {
	std::vector<std::string> directories;
	std::string tdl;
	std::string by = "process", sort, every;
	bool syscalls = false, offcpu = false, regions = false, segments = false, ratios = false, samples = false,
	     json = false, csv = false;
	std::size_t top = 0;
};

const std::map<std::string, report::GroupBy> groupings = {{"process", report::GroupBy::process},
							  {"thread", report::GroupBy::thread},
							  {"cpu", report::GroupBy::cpu},
							  {"command", report::GroupBy::command},
							  {"cgroup", report::GroupBy::cgroup}};
const std::map<std::string, analyze::RegionBy> region_groupings = {{"process", analyze::RegionBy::process},
								   {"thread", analyze::RegionBy::thread},
								   {"argument", analyze::RegionBy::argument}};
const std::map<std::string, analyze::SegmentBy> segment_groupings = {
    {"process", analyze::SegmentBy::process}, {"thread", analyze::SegmentBy::thread}, {"cpu", analyze::SegmentBy::cpu}};
const std::vector<std::string> all_groupings = {"process", "thread", "cpu", "command", "cgroup", "argument"};

constexpr std::size_t longest_command = 80;

// Each table has rows of its own kinds.
void expect_fitting(const ReportArguments &arguments)
{
	if (arguments.regions && !region_groupings.contains(arguments.by))
		throw CLI::ValidationError("--regions goes by process, thread or argument, not by " + arguments.by);
	if (arguments.segments && !segment_groupings.contains(arguments.by))
		throw CLI::ValidationError("--segments goes by process, thread or cpu, not by " + arguments.by);
	if (!arguments.regions && !groupings.contains(arguments.by))
		throw CLI::ValidationError("--by " + arguments.by + " goes with --regions only");
}

std::map<std::uint64_t, std::string> cgroup_paths(const std::string &directory)
{
	std::map<std::uint64_t, std::string> paths;
	const auto json = parse_json(read_text(directory + "/.monitor/names"));
	if (json.is_object() && json.contains("cgroups") && json["cgroups"].is_object())
		for (const auto &[id, path] : json["cgroups"].items())
			if (path.is_string())
				paths[std::strtoull(id.c_str(), nullptr, 10)] = path.get<std::string>();
	return paths;
}

// What a table cannot show because the recording left it out: an error if nothing is left, else a note.
void expect_recorded(const analyze::RecordingInfo &info, const analyze::ActivityTable &table)
{
	if (!info.present)
		return;
	const bool calls = info.has_program("sys_enter") && info.has_program("sys_exit");
	if (table.activity == analyze::Activity::system_call) {
		if (!calls)
			throw Error("this recording has no system calls: record the family syscall");
		return;
	}
	if (!info.has_program("sched_waking"))
		throw Error("this recording does not tell what was waited for: record the family sched");
	if (!calls)
		fmt::print(stderr, "monitor: system calls were not recorded, so the calls are not known\n");
	if (!info.has_program("irq_handler_entry") || !info.has_program("softirq_entry"))
		fmt::print(stderr, "monitor: interrupts were not recorded, so the wakers are not known\n");
	else if (info.filtering())
		fmt::print(stderr,
			   "monitor: under -p interrupts are recorded only while a selected thread runs, so who "
			   "woke it from elsewhere is not known\n");
}

std::string shortened(const std::string &command)
{
	return command.size() <= longest_command ? command : command.substr(0, longest_command - 3) + "...";
}

// A loss that makes the figures useless is said before them.
std::string loss_warning(const report::Summary &summary)
{
	const auto lost = static_cast<double>(summary.lost.value_or(0));
	const double share = lost > 0 ? lost / (lost + static_cast<double>(summary.tokens)) : 0;
	return share < 0.01
		   ? ""
		   : fmt::format("{:.0f} % of the events were lost: times and counts below are too small (\"at most\": "
				 "the kernel's own count of the CPU time); record with a larger --buffer or "
				 "fewer events (-e, -p)\n\n",
				 share * 100);
}

void print_text(const report::Table &table, const std::string &below, const report::Table &cpus, bool with_cpus,
		std::size_t hidden, const analyze::RecordingInfo &info, const report::Summary &summary,
		std::size_t problems)
{
	if (!info.command.empty())
		fmt::print("command: {} (its processes are marked *), ", shortened(printable(info.command_line())));
	fmt::print("{} recorded on {}\n\n{}", report::duration_text(summary.wall_ns),
		   info.host.empty() ? "?" : printable(info.host), loss_warning(summary) + report::to_text(table));
	if (hidden)
		fmt::print("... and {} more; --top 0 shows all\n", hidden);
	fmt::print("{}{}", below.empty() ? "" : "\n", below);
	if (with_cpus)
		fmt::print("\n{}", report::to_text(cpus));
	if (problems)
		fmt::print("\n{} packets of this trace are damaged and were left out", problems);
	fmt::print("\n{}\n", report::summary_text(summary));
}

// Below the times.
std::string ratios_text(report::Table ratios, std::size_t keep, const std::string &how_counted)
{
	const std::size_t all = ratios.rows.size();
	ratios.keep_top(keep);
	return report::to_text(ratios) +
	       (all > keep ? fmt::format("... and {} more; --ratios --top 0 shows all\n", all - keep) : "") +
	       how_counted;
}

// What the arguments ask for beside the times.
struct Folds {
	std::unique_ptr<analyze::ActivityFold> activities;
	std::unique_ptr<analyze::CounterFold> counters;
	std::unique_ptr<analyze::RegionFold> regions;
	std::unique_ptr<analyze::SegmentFold> segments;
	std::unique_ptr<analyze::SampleFold> samples;
};

Folds make_folds(const ReportArguments &arguments, const trace::Trace &trace, const analyze::RecordingInfo &info,
		 analyze::Machine &machine, std::uint64_t every_ticks)
{
	Folds folds;
	if (arguments.samples) {
		folds.samples = std::make_unique<analyze::SampleFold>(machine);
		machine.add(*folds.samples);
		return folds;
	}
	if (arguments.syscalls || arguments.offcpu) {
		folds.activities = std::make_unique<analyze::ActivityFold>(
		    analyze::load_table(arguments.syscalls ? "syscalls" : "offcpu"), machine);
		expect_recorded(info, folds.activities->table());
		machine.add(*folds.activities);
		return folds;
	}
	if (info.counters) {
		folds.counters = std::make_unique<analyze::CounterFold>(trace.description(), *info.counters,
									trace.begin_time(), every_ticks);
		machine.add(*folds.counters);
	} else if (arguments.ratios || arguments.segments) {
		throw Error("this recording has no counters: record with -m, for example -m cpu,cache");
	}
	if (arguments.regions) {
		folds.regions = std::make_unique<analyze::RegionFold>(region_groupings.at(arguments.by), trace, machine,
								      folds.counters.get());
		machine.add(*folds.regions);
	}
	if (arguments.segments) {
		folds.segments = std::make_unique<analyze::SegmentFold>(segment_groupings.at(arguments.by),
									trace.description(), machine, *folds.counters);
		machine.add(*folds.segments);
	}
	return folds;
}

// What no row of the table can say.
std::string below_text(const Folds &folds, const analyze::RecordingInfo &info, const trace::Clock &clock)
{
	if (folds.regions)
		return report::unpaired_text(*folds.regions);
	if (folds.segments)
		return report::segments_text(*folds.segments, info);
	return folds.samples ? report::samples_text(*folds.samples, clock) : "";
}

std::string below_json(const Folds &folds, const trace::Clock &clock)
{
	if (folds.regions)
		return fmt::format("\"unpaired\": {},\n", report::unpaired_json(*folds.regions));
	return folds.samples ? fmt::format("\"samples\": {},\n", report::samples_json(*folds.samples, clock)) : "";
}

report::UsageOptions usage_options(const ReportArguments &arguments, const trace::Trace &trace,
				   const analyze::RecordingInfo &info, const analyze::EventKinds &kinds)
{
	report::UsageOptions options;
	if (!arguments.regions)
		options.grouping.by = groupings.at(arguments.by);
	options.grouping.filtering = info.filtering();
	options.recorded = analyze::recorded(trace, info, kinds);
	if (options.grouping.by == report::GroupBy::cgroup)
		options.grouping.cgroup_paths = cgroup_paths(trace.directory());
	return options;
}

// What was counted: a table of its own, or with --regions columns of the activities' table.
struct Counted {
	report::Table table;
	std::string how; // each figure was counted: text, or JSON
};

Counted counted(const ReportArguments &arguments, const Folds &folds, const analyze::Machine &machine,
		const trace::Clock &clock, const report::MeasurementsOptions &options, report::Table &main_table)
{
	if (!folds.counters)
		return {};
	const bool text = !arguments.json && !arguments.csv;
	Counted counted;
	constexpr std::uint64_t most_parts = 100'000;
	if (options.every_ticks && folds.counters->parts().size() > most_parts)
		throw Error("--every would make too many rows: say a longer time");
	counted.table = report::measurements_table(*folds.counters, machine, clock, options);
	const report::Table &of = folds.regions || folds.segments ? main_table : counted.table;
	counted.how = text ? report::provenance_text(folds.counters->info(), of)
			   : report::provenance_json(folds.counters->info(), of);
	if (text && options.every_ticks && folds.counters->reaching_back())
		counted.how +=
		    fmt::format("{} readings tell of a longer time than --every, and stand where they were made; "
				"record with --every\n",
				folds.counters->reaching_back());
	if (folds.regions && text)
		counted.how += report::how_counted_text(folds.counters->info(), main_table);
	if (arguments.ratios)
		main_table = counted.table;
	if (text) {
		counted.table = report::without_exact(counted.table);
		main_table = report::without_exact(main_table);
	}
	return counted;
}

// One of several traces says which in JSON and in every row of CSV; `head` is what was printed of CSV last.
struct OfSeveral {
	std::string trace; // "": it is the only one
	std::string head;
};

void print_json(const report::Table &table, const std::string &below, const report::Table &cpus,
		const report::Summary &summary, const OfSeveral &of)
{
	const std::string trace = of.trace.empty() ? "" : fmt::format("\"trace\": {},\n", trace::json_text(of.trace));
	fmt::print("{{{}\"rows\": {},\n{}\"cpus\": {},\n\"summary\": {}}}\n", trace, report::to_json(table), below,
		   report::to_json(cpus), report::summary_json(summary));
}

void print_csv(report::Table table, OfSeveral &of)
{
	if (!of.trace.empty()) {
		table.columns.insert(table.columns.begin(), {"trace", "trace", report::Unit::text});
		for (auto &row : table.rows)
			row.insert(row.begin(), of.trace);
	}
	const std::string text = report::to_csv(table), head = text.substr(0, text.find('\n') + 1);
	fmt::print("{}", std::exchange(of.head, head) == head ? text.substr(head.size()) : text);
}

// Returns the exit code.
int report_one(const ReportArguments &arguments, const std::string &directory, OfSeveral &of)
{
	trace::Trace trace = open_trace({directory}, arguments.tdl);
	const trace::Clock &clock = trace.description().clock;
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	if (info.card == "user" && !arguments.regions)
		throw Error(
		    "this trace has only programs' own events (--user-only), nothing of the kernel's: say --regions, "
		    "or monitor list");
	analyze::Machine machine(trace, info);
	if (trace.is_described() && !trace.is_empty() && !machine.kinds().has(analyze::Kind::sched_switch))
		throw Error("this trace has no sched_switch of a kernel, so nothing tells who used the CPUs; monitor "
			    "info counts its events, monitor list prints them");
	analyze::ClockBound bound(trace.description(), info);
	const std::uint64_t every_ticks =
	    arguments.every.empty() ? 0 : clock.to_ticks(parse_duration(arguments.every, "--every"));
	trace::Losses losses;
	const Folds folds = make_folds(arguments, trace, info, machine, every_ticks);
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    machine.event(event);
		    if (event.stream->is_recorder())
			    bound.event(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t discarded) {
		    machine.gap(stream, from, to);
		    losses.add(discarded);
	    });
	machine.finish();
	if (folds.regions)
		folds.regions->finish();
	if (folds.counters)
		folds.counters->finish(machine);
	if (folds.samples)
		folds.samples->finish();

	const report::UsageOptions options = usage_options(arguments, trace, info, machine.kinds());
	const report::Table cpus = report::cpu_table(machine, clock, info);
	const bool by_cpu = options.grouping.by == report::GroupBy::cpu && !folds.activities && !folds.segments;
	report::Table table = folds.regions ? report::regions_table(*folds.regions, clock, report::known_shares(info),
								    folds.counters ? &folds.counters->info() : nullptr)
			      : folds.segments ? report::segments_table(*folds.segments, folds.counters->info(), clock)
			      : folds.samples  ? report::samples_table(*folds.samples)
			      : folds.activities ? report::activity_table(*folds.activities, clock)
			      : by_cpu           ? cpus
						 : report::usage_table(machine, clock, options);
	const Counted ratios = counted(arguments, folds, machine, clock, {options.grouping, every_ticks}, table);
	if (!arguments.sort.empty())
		table.sort_by(table.column(arguments.sort));
	const bool text = !arguments.json && !arguments.csv;
	const std::size_t keep = arguments.top ? arguments.top : text ? rows_in_text : table.rows.size();
	const std::size_t hidden = table.rows.size() - std::min(table.rows.size(), keep);
	table.keep_top(keep);
	report::Summary summary = report::summarize(trace, info, bound, machine.tokens());
	summary.hidden_threads = machine.hidden_threads();
	if (trace.is_described())
		summary.lost = losses.counted();
	if (arguments.json) {
		const std::string measured = folds.counters ? fmt::format("\"ratios\": {},\n\"measurements\": {},\n",
									  report::to_json(ratios.table), ratios.how)
							    : "";
		print_json(table, below_json(folds, clock) + measured, cpus, summary, of);
	} else if (arguments.csv) {
		print_csv(table, of);
	} else {
		const bool of_its_own = folds.counters && !folds.regions && !folds.segments && !arguments.ratios;
		print_text(table,
			   below_text(folds, info, clock) +
			       (of_its_own ? ratios_text(ratios.table, keep, ratios.how) : ratios.how),
			   cpus,
			   !by_cpu && (of_its_own ||
				       (!folds.counters && !folds.activities && !folds.regions && !folds.samples)),
			   hidden, info, summary, trace.problems().total());
	}
	print_problems(trace.problems());
	return trace.problems().empty() ? 0 : 1;
}

// Several traces are several recordings: what is known of threads and CPUs does not go from one into another.
int run_report(const ReportArguments &arguments)
{
	int exit_code = 0;
	OfSeveral of;
	const bool are_several = arguments.directories.size() > 1;
	if (are_several && arguments.json)
		fmt::print("[");
	for (const std::string &directory : arguments.directories) {
		const bool is_first = &directory == arguments.directories.data();
		if (are_several)
			of.trace = directory;
		if (are_several && arguments.json)
			fmt::print("{}", is_first ? "" : ",\n");
		else if (are_several && !arguments.csv)
			fmt::print("{}{}:\n", is_first ? "" : "\n", printable(directory));
		exit_code = std::max(exit_code, report_one(arguments, directory, of));
	}
	if (are_several && arguments.json)
		fmt::print("]\n");
	return exit_code;
}

} // namespace

void add_report(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("report", "who used the CPUs, in which mode, and what they waited for");
	auto arguments = std::make_shared<ReportArguments>();
	command->add_option("trace", arguments->directories, "directories of traces, each reported by itself")
	    ->required()
	    ->option_text("DIR...");
	add_tdl_option(*command, arguments->tdl);
	command
	    ->add_option(
		"--by", arguments->by,
		"a row per process, thread, cpu, command or cgroup; of --regions: process, thread or argument; of "
		"--segments: process, thread or cpu")
	    ->check(CLI::IsMember(all_groupings));
	command->add_flag("--syscalls", arguments->syscalls, "system calls by process and call instead")
	    ->excludes("--by");
	command->add_flag("--offcpu", arguments->offcpu, "time blocked, by thread, system call and waker instead")
	    ->excludes("--syscalls")
	    ->excludes("--by");
	command->add_flag("--regions", arguments->regions, "activities of instrumented programs instead")
	    ->excludes("--syscalls")
	    ->excludes("--offcpu");
	command
	    ->add_flag("--segments", arguments->segments,
		       "what was counted between the events of `record --reset-on` instead")
	    ->excludes("--syscalls")
	    ->excludes("--offcpu")
	    ->excludes("--regions");
	command
	    ->add_flag("--samples", arguments->samples,
		       "what the CPUs were at when `record --sample-every` asked all at once instead, by process")
	    ->excludes("--syscalls")
	    ->excludes("--offcpu")
	    ->excludes("--regions")
	    ->excludes("--segments")
	    ->excludes("--by");
	command->add_flag("--ratios", arguments->ratios, "only what `record -m` counted, by --by")
	    ->excludes("--syscalls")
	    ->excludes("--offcpu")
	    ->excludes("--regions")
	    ->excludes("--segments")
	    ->excludes("--samples");
	command->add_option("--every", arguments->every, "--ratios for each stretch of this length, such as 100ms")
	    ->option_text("TIME")
	    ->needs("--ratios");
	command->add_option("--sort", arguments->sort, "sort by this column (default: CPU time or total)")
	    ->option_text("COLUMN");
	command->add_option("--top", arguments->top, "so many rows only; 0: all (default in text: 40)")
	    ->option_text("N")
	    ->check([](const std::string &text) {
		    return text.find_first_not_of("0123456789") == std::string::npos
			       ? std::string()
			       : "'" + text + "' is no number of rows; 0 is all";
	    });
	command->add_flag("--json", arguments->json, "JSON: {rows, cpus, summary; ratios, measurements}, times in ns");
	command->add_flag("--csv", arguments->csv, "comma-separated values, times in ns")->excludes("--json");
	command->footer(
	    "CPU%: of one CPU. user% to unkn%: parts of the row's CPU time. unattr: kernel or user, no token tells;\n"
	    "unkn: behind a loss or before the first token. waiting: runnable but not running.\n"
	    "Examples:\n"
	    "  monitor report DIR\n"
	    "  monitor report DIR --by thread --sort waiting --top 10\n"
	    "  monitor report DIR --syscalls --json\n"
	    "  monitor report DIR --ratios --by command --csv\n"
	    "  monitor report DIR --segments --by thread\n"
	    "  monitor report DIR --regions --by thread");
	command->callback([arguments, command, &exit_code] {
		if (command->count("--top") && arguments->top == 0)
			arguments->top = ~std::size_t(0);
		expect_fitting(*arguments);
		exit_code = run_report(*arguments);
	});
}

} // namespace monitor
