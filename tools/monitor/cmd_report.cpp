// SPDX-License-Identifier: MIT
// `monitor report`: who used the CPUs, in which mode, what they waited for. One pass of reading/analyze/, printed by
// answers/report/; a pass before it if threads are selected.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "answers/report/activities_table.h"
#include "answers/report/idle_table.h"
#include "answers/report/measurements_table.h"
#include "answers/report/profile.h"
#include "answers/report/samples_table.h"
#include "answers/report/segments_table.h"
#include "answers/report/stacks_table.h"
#include "answers/report/summary.h"
#include "answers/report/usage_report.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "commands.h"
#include "open.h"
#include "problems.h"
#include "reading/activities/table.h"
#include "reading/activities/totals.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/fold.h"
#include "reading/analyze/machine.h"
#include "reading/analyze/samples.h"
#include "reading/analyze/segments.h"
#include "reading/analyze/stacks.h"
#include "report_arguments.h"
#include "report_counts.h"
#include "report_requests.h"
#include "report_stacks.h"
#include "report_triggers.h"
#include "report_virtual.h"
#include "terminal.h"

namespace monitor {
namespace {

const std::map<std::string, report::GroupBy> groupings = {{"process", report::GroupBy::process},
							  {"thread", report::GroupBy::thread},
							  {"cpu", report::GroupBy::cpu},
							  {"command", report::GroupBy::command},
							  {"cgroup", report::GroupBy::cgroup}};
const std::map<std::string, activities::Label> activity_labels = {{"process", activities::Label::process},
								  {"thread", activities::Label::thread},
								  {"caller", activities::Label::caller},
								  {"argument", activities::Label::argument}};
const std::map<std::string, analyze::SegmentBy> segment_groupings = {
    {"process", analyze::SegmentBy::process}, {"thread", analyze::SegmentBy::thread}, {"cpu", analyze::SegmentBy::cpu}};
constexpr double min_share = 0.01; // of the total, to be printed

// What a table cannot show because it was not recorded: an error if nothing remains, otherwise a note.
void expect_recorded(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds, activities::Source source)
{
	const bool is_of_calls = source == activities::Source::system_call;
	if (const std::string why = report::why_no_states(info, kinds, is_of_calls); !why.empty())
		throw Error(why);
	if (is_of_calls)
		return;
	const auto is_recorded = [&](const char *program, bool is_in_kinds) {
		return info.present ? info.has_program(program) : is_in_kinds;
	};
	if (!is_recorded("sys_enter", kinds.has_calls()) || !is_recorded("sys_exit", kinds.has_calls()))
		print_note("monitor: system calls were not recorded, so the calls are unknown\n");
	if (!is_recorded("irq_handler_entry", kinds.has_interrupts(false)) ||
	    !is_recorded("softirq_entry", kinds.has_interrupts(true)))
		print_note("monitor: interrupts were not recorded, so the wakers are unknown\n");
	else if (info.filtering())
		print_note("monitor: with -p, interrupts are recorded only while a selected thread runs, so "
			   "wakers elsewhere are unknown\n");
}

// A loss that makes the figures useless is reported before them.
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

std::string damage_text(std::size_t problems)
{
	return problems ? fmt::format("\n{} packets of this trace are damaged and were left out", problems) : "";
}

// The table, or a picture of it.
std::string table_text(const report::Table &table, const std::vector<plot::Chart> &charts, bool is_drawn)
{
	return is_drawn ? plot_text(charts) : report::to_text(table, terminal_width());
}

void print_text(const std::string &table, const std::string &below, const report::Table &cpus, bool with_cpus,
		std::size_t hidden, const analyze::RecordingInfo &info, const report::Summary &summary,
		std::size_t problems)
{
	if (!info.command.empty())
		fmt::print("command: {} (its processes are marked *), ", printable(info.short_command()));
	fmt::print("{} recorded on {}\n\n{}", report::duration_text(summary.wall_ns),
		   info.host.empty() ? "?" : printable(info.host), loss_warning(summary) + table);
	fmt::print("{}", report::more_rows_text(hidden));
	fmt::print("{}{}", below.empty() ? "" : "\n", below);
	if (with_cpus)
		fmt::print("\n{}", report::to_text(cpus, terminal_width()));
	fmt::print("{}\n{}\n", damage_text(problems), report::summary_text(summary));
}

// Printed after the times.
std::string ratios_text(report::Table ratios, std::size_t keep, const std::string &how_counted)
{
	const std::size_t all = ratios.rows.size();
	ratios.keep_top(keep);
	return report::to_text(ratios, terminal_width()) +
	       (all > keep ? fmt::format("... and {} more; the report ratios with --top 0 shows all\n", all - keep)
			   : "") +
	       how_counted;
}

// What the arguments select besides the times.
struct Folds {
	std::unique_ptr<analyze::CounterFold> counters;
	std::unique_ptr<activities::Tracker> tracker;
	std::unique_ptr<activities::Totals> totals;
	std::unique_ptr<activities::Patches> patches; // if functions were patched
	std::unique_ptr<analyze::SegmentFold> segments;
	std::unique_ptr<analyze::SampleFold> samples;
	std::unique_ptr<analyze::StackFold> stacks;

	bool has(activities::Source source) const { return totals && totals->grouping().source == source; }
	bool has_programs() const { return has(activities::Source::program); }
	bool has_states() const { return totals && !has_programs(); }
};

// The reports of states of threads are tables of these names in share/tables/.
activities::Grouping grouping_of(const ReportArguments &arguments)
{
	using activities::Label;
	if (arguments.is(What::activities))
		return {activities::Source::program, {Label::activity, activity_labels.at(arguments.by)}};
	const activities::Table table = activities::load_shipped_table(arguments.report->name);
	return activities::grouping_of(table.activities.front());
}

void add_totals(Folds &folds, const ReportArguments &arguments, const analyze::RecordingInfo &info,
		const analyze::Source &source, analyze::Machine &machine)
{
	folds.tracker = std::make_unique<activities::Tracker>(
	    source, machine,
	    activities::Tracker::Options{arguments.by == "argument", folds.counters.get(), arguments.is(What::offcpu)});
	if (arguments.is(What::activities) && folds.tracker->names().empty() && info.has_partial())
		throw Error(
		    "the recording's --filter left out events of its activities (`monitor info` shows it), so they "
		    "are not known; `monitor list` and `monitor stat` show those that it kept");
	if (arguments.is(What::activities) && folds.tracker->names().empty())
		throw Error("this trace has no activities: declare them with EDC_ACTIVITY of monitor/edc.h");
	folds.totals =
	    std::make_unique<activities::Totals>(grouping_of(arguments), machine, *folds.tracker, folds.counters.get());
	folds.tracker->add(*folds.totals);
	machine.add(*folds.tracker);
	const bool is_all = machine.is_whole() && machine.scope().cpus.empty() && !machine.scope().threads;
	if (is_all && std::ranges::any_of(info.functions, &analyze::RecordedFunction::is_patched)) {
		folds.patches = std::make_unique<activities::Patches>(source.description);
		machine.add(*folds.patches);
	}
}

Folds make_folds(const ReportArguments &arguments, const trace::Trace &trace, const analyze::RecordingInfo &info,
		 analyze::Machine &machine, std::uint64_t every_ticks)
{
	Folds folds;
	if (arguments.is(What::samples)) {
		folds.samples = std::make_unique<analyze::SampleFold>(machine);
		machine.add(*folds.samples);
		return folds;
	}
	if (arguments.is(What::stacks)) {
		folds.stacks = std::make_unique<analyze::StackFold>();
		machine.add(*folds.stacks);
		return folds;
	}
	if (arguments.is(What::syscalls) || arguments.is(What::offcpu)) {
		add_totals(folds, arguments, info, analyze::source_of(trace, info), machine);
		expect_recorded(info, machine.kinds(), folds.totals->grouping().source);
		return folds;
	}
	if (info.counters) {
		folds.counters = std::make_unique<analyze::CounterFold>(
		    trace.description(), *info.counters, trace.begin_time(), every_ticks, machine.scope());
		machine.add(*folds.counters);
	} else if (arguments.is(What::ratios) || arguments.is(What::segments)) {
		throw Error("this recording has no counters: record with -m, for example -m cpu,cache");
	}
	if (arguments.is(What::activities))
		add_totals(folds, arguments, info, analyze::source_of(trace, info), machine);
	if (arguments.is(What::segments)) {
		folds.segments = std::make_unique<analyze::SegmentFold>(segment_groupings.at(arguments.by),
									trace.description(), machine, *folds.counters);
		machine.add(*folds.segments);
	}
	return folds;
}

// What --filter left out of what the tables show.
void tell_of_filter(const trace::Trace &trace, const analyze::RecordingInfo &info, const Folds &folds)
{
	if (info.filter_expression.empty())
		return;
	std::set<std::string> missing;
	const bool of_programs = folds.has_programs();
	for (const auto &cls : trace.description().classes()) {
		const bool is_user = cls->domain == trace::Domain::user;
		const bool is_pair =
		    cls->name.ends_with("_begin") || cls->name.ends_with("_end") || cls->name.starts_with("function_");
		if (info.partial.contains(cls->name) && is_user == of_programs && (!of_programs || is_pair) &&
		    (is_user || info.attached(cls->name)))
			missing.insert(cls->name);
	}
	constexpr std::size_t max_names = 5;
	std::string names;
	std::size_t count = 0;
	for (const std::string &name : missing)
		if (count++ < max_names)
			names += (names.empty() ? "" : ", ") + name;
	if (count > max_names)
		names += fmt::format(" and {} more classes", count - max_names);
	if (!missing.empty())
		print_note(
		    fmt::format("monitor: --filter left out events of {}: what is derived from them is unknown\n",
				printable(names)));
}

// What no row of the table can show.
std::string below_text(const ReportArguments &arguments, const Folds &folds, const analyze::RecordingInfo &info,
		       const trace::Clock &clock)
{
	if (folds.has_programs())
		return report::unpaired_text(*folds.totals) + report::call_cost_text(info) +
		       report::left_out_text(info, clock) +
		       (folds.patches ? report::patches_text(*folds.patches, info) : "");
	if (folds.segments)
		return report::segments_text(*folds.segments, info);
	return folds.samples ? report::samples_text(*folds.samples, clock) + (arguments.idle ? report::idle_text() : "")
			     : "";
}

std::string below_stacks(const report::CallTree &tree, const trace::Clock &clock, const analyze::RecordingInfo &info,
			 report::StackBy by)
{
	return report::calls_text(tree, clock, by, min_share, terminal_width()) + report::stacks_text(tree, info, by);
}

std::string below_json(const Folds &folds, const analyze::RecordingInfo &info, const trace::Clock &clock)
{
	if (folds.has_programs())
		return fmt::format("\"unpaired\": {},\n\"overlap\": {},\n", report::unpaired_json(*folds.totals),
				   folds.totals->uncertain()) +
		       (info.function_budget
			    ? fmt::format("\"left_out_by_budget\": {},\n", report::left_out_json(info, clock))
			    : "") +
		       (folds.patches ? fmt::format("\"patches\": {},\n", report::patches_json(*folds.patches, info))
				      : "");
	return folds.samples ? fmt::format("\"samples\": {},\n", report::samples_json(*folds.samples, clock)) : "";
}

report::UsageOptions usage_options(const ReportArguments &arguments, const trace::Trace &trace,
				   const analyze::RecordingInfo &info, const analyze::EventKinds &kinds)
{
	report::UsageOptions options;
	if (!arguments.is(What::activities) && !arguments.is(What::stacks))
		options.grouping.by = groupings.at(arguments.by);
	options.grouping.filtering = info.filtering();
	options.recorded = analyze::recorded(trace, info, kinds);
	const bool is_default_text = !arguments.json && !arguments.csv && arguments.sort.empty() && arguments.top == 0;
	options.with_sleepers = !is_default_text || !arguments.selection.threads.is_all();
	if (!arguments.selection.cpus.empty())
		options.recorded.wakings = false; // waiting and blocked are on no CPU
	if (options.grouping.by == report::GroupBy::cgroup)
		options.grouping.cgroup_paths = selection::cgroup_paths(trace.directory());
	return options;
}

// What was counted: a separate table or, in the report activities, columns of the activities' table.
struct Counted {
	report::Table table;
	std::string how; // how each figure was counted: text, or JSON
};

Counted counted(const ReportArguments &arguments, const Folds &folds, const analyze::Machine &machine,
		const trace::Clock &clock, const report::MeasurementsOptions &options, report::Table &main_table)
{
	if (!folds.counters)
		return {};
	const bool text = !arguments.json && !arguments.csv;
	Counted counted;
	constexpr std::uint64_t max_parts = 100'000;
	if (options.every_ticks && folds.counters->parts().size() > max_parts)
		throw Error("--every would make too many rows: use a longer time");
	counted.table = report::measurements_table(*folds.counters, machine, clock, options);
	const report::Table &of = folds.has_programs() || folds.segments ? main_table : counted.table;
	counted.how = text ? report::provenance_text(folds.counters->info(), of)
			   : report::provenance_json(folds.counters->info(), of);
	if (text && options.every_ticks && folds.counters->reaching_back())
		counted.how += fmt::format("{} readings cover a longer time than --every and are shown where they were "
					   "made; record with --every\n",
					   folds.counters->reaching_back());
	if (folds.has_programs() && text)
		counted.how += report::how_counted_text(folds.counters->info(), main_table);
	if (arguments.is(What::ratios))
		main_table = counted.table;
	if (text) {
		counted.table = report::without_exact(counted.table);
		main_table = report::without_exact(main_table);
	}
	return counted;
}

// Of several traces, each is named in JSON and in every row of CSV; `head` is the CSV header printed last.
struct OfSeveral {
	std::string trace; // "": the only one
	std::string head;
};

void print_json(const report::Table &table, const std::string &below, const report::Table &cpus,
		const report::Summary &summary, const OfSeveral &of)
{
	const std::string trace = of.trace.empty() ? "" : fmt::format("\"trace\": {},\n", json_text(of.trace));
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

// Series need all rows: each is a moment.
std::vector<plot::Chart> charts_of(const ReportArguments &arguments, const report::Table &table, std::size_t max_bars)
{
	if (!arguments.plot.is_asked())
		return {};
	plot::Choice choice{fmt::format("report {}", arguments.report->name), arguments.sort, max_bars};
	if (arguments.top)
		choice.max_series = arguments.top;
	return {plot::chart_of(table, choice)};
}

void expect_in_statistics(const ReportArguments &arguments, const trace::Trace &trace)
{
	const bool is_there = arguments.is(What::cpu) || arguments.is(What::syscalls) || arguments.is(What::offcpu) ||
			      arguments.is(What::activities);
	if (!is_there)
		expect_events(trace, std::string("the report ") + arguments.report->name);
	if (arguments.is(What::activities) && (arguments.by == "thread" || arguments.by == "argument"))
		throw Error(fmt::format("this recording has statistics instead of events (--statistics), which have "
					"the activities of each process: use --by process or --by caller, not {}",
					arguments.by));
}

// Returns the exit code.
int report_one(const ReportArguments &arguments, const std::string &directory, OfSeveral &of)
{
	trace::Trace trace = open_trace({directory}, arguments.tdl);
	const trace::Clock &clock = trace.description().clock;
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	expect_times(trace, std::string("the report ") + arguments.report->name);
	if (arguments.is(What::counts)) {
		report_counts(arguments, trace, info);
		print_problems(trace.problems());
		return trace.problems().empty() ? 0 : 1;
	}
	if (arguments.is(What::triggers)) {
		report_triggers(arguments, trace, info);
		print_problems(trace.problems());
		return trace.problems().empty() ? 0 : 1;
	}
	if (info.statistics)
		expect_in_statistics(arguments, trace);
	if (info.statistics && !arguments.selection.cpus.empty())
		throw Error(
		    "this recording has statistics instead of events (--statistics), which do not tell what was "
		    "on which CPU: leave out --cpu");
	if (info.has_only_states())
		throw Error(
		    info.counts.empty() && info.times.empty()
			? "this recording has no events (--no-tokens), only run lengths of states: use `monitor "
			  "states DIR`"
			: "this recording has no events (--no-tokens), only counts and run lengths of states: use "
			  "`monitor report DIR counts` and `monitor states DIR`");
	if (!info.has_tokens)
		throw Error("this recording has no events (--no-tokens), only counts: use `monitor report DIR counts`");
	if (info.card == "user" && !arguments.is(What::activities))
		throw Error("this trace has only programs' own events (--user-only), none of the kernel's: use "
			    "`monitor report DIR activities`, or monitor list");
	if (arguments.is(What::samples) && info.partial.contains("sample"))
		throw Error(
		    "the recording's --filter left out samples, from which this table is made; `monitor list` shows "
		    "those that it kept");
	if (arguments.is_virtual) {
		report_virtual(arguments, trace, info,
			       {groupings.at(arguments.by), info.filtering(), selection::cgroup_paths(directory)});
		return 0;
	}
	analyze::Machine machine(trace, info, arguments.selection.scope(trace, info));
	if (trace.is_generic_ctf() && !trace.is_empty() && !machine.kinds().has(analyze::Kind::sched_switch))
		throw Error("this trace has no sched_switch events of a kernel, so it does not show who used the CPUs; "
			    "monitor info counts its events, monitor list prints them");
	analyze::ClockBound bound(trace.description(), info);
	const std::uint64_t every_ticks =
	    arguments.every.empty() ? 0 : clock.to_ticks(parse_duration(arguments.every, "--every"));
	const Folds folds = make_folds(arguments, trace, info, machine, every_ticks);
	const trace::Losses losses = analyze::fold(trace, machine, [&](const trace::Event &event) {
		if (event.stream->is_recorder())
			bound.event(event);
	});
	if (folds.tracker)
		folds.tracker->finish();
	if (folds.counters)
		folds.counters->finish(machine);
	if (folds.samples)
		folds.samples->finish();
	if (folds.samples && folds.samples->rounds() == 0 && arguments.selection.is_all())
		throw Error("this recording has no samples of what the CPUs were doing: record with --sample-every");

	if (folds.stacks && !folds.stacks->any())
		throw Error(info.filter_expression.empty() || !info.attached("stack_sample")
				? "this recording has no stacks: record with --stacks"
				: "this recording has no stacks: its --filter kept no event that one is taken at");
	std::optional<NamedStacks> stacks;
	const report::CallTree *tree = nullptr;
	const report::StackBy by = stacks_by(arguments.by_is_chosen ? arguments.by : "", info);
	if (folds.stacks) {
		stacks.emplace(directory, clock, info, machine, *folds.stacks, symbol_options(arguments));
		tree = &stacks->tree(by);
		print_missing(stacks->symbolizer());
	}
	if (tree && arguments.folded) {
		fmt::print("{}", report::folded_text(report::profile_of(*tree, clock, by, "")));
		print_problems(trace.problems());
		return trace.problems().empty() ? 0 : 1;
	}
	const report::UsageOptions options = usage_options(arguments, trace, info, machine.kinds());
	const report::Table cpus = report::cpu_table(machine, clock, info, options.recorded);
	const bool by_cpu =
	    options.grouping.by == report::GroupBy::cpu && !folds.totals && !folds.segments && !folds.stacks;
	report::Table table = folds.totals
				  ? report::activities_table(*folds.totals, clock, report::known_shares(info),
							     folds.counters ? &folds.counters->info() : nullptr)
			      : folds.segments ? report::segments_table(*folds.segments, folds.counters->info(), clock)
			      : arguments.idle ? report::idle_table(*folds.samples, machine)
			      : folds.samples  ? report::samples_table(*folds.samples)
			      : tree           ? report::stacks_table(*tree, clock, by)
			      : by_cpu         ? cpus
					       : report::usage_table(machine, clock, options);
	const Counted ratios = counted(arguments, folds, machine, clock, {options.grouping, every_ticks}, table);
	tell_of_filter(trace, info, folds);
	if (!arguments.sort.empty())
		table.sort_by(table.column(arguments.sort));
	if ((table.rows.empty() || cpus.rows.empty()) && !arguments.selection.is_all())
		print_note("monitor: nothing in this trace matches the options\n");
	const bool text = !arguments.json && !arguments.csv;
	const std::size_t keep = arguments.top ? arguments.top : text ? rows_in_text : table.rows.size();
	const std::vector<plot::Chart> charts = charts_of(arguments, table, keep);
	const std::size_t hidden = table.rows.size() - std::min(table.rows.size(), keep);
	table.keep_top(keep);
	const report::Summary summary = report::summarize(trace, info, bound, machine, losses);
	if (!arguments.plot.file.empty())
		write_svg(charts, arguments.plot.file,
			  loss_warning(summary) + damage_text(trace.problems().total()) + "\n" +
			      report::summary_text(summary));
	if (arguments.json) {
		const std::string measured = folds.counters ? fmt::format("\"ratios\": {},\n\"measurements\": {},\n",
									  report::to_json(ratios.table), ratios.how)
							    : "";
		const std::string of_stacks =
		    tree ? fmt::format("\"stacks\": {},\n", report::stacks_json(*tree, clock, info, by)) : "";
		print_json(table, below_json(folds, info, clock) + of_stacks + measured, cpus, summary, of);
	} else if (arguments.csv) {
		print_csv(table, of);
	} else {
		const bool of_its_own =
		    folds.counters && !folds.totals && !folds.segments && !arguments.is(What::ratios);
		print_text(table_text(table, charts, arguments.plot.in_text),
			   below_text(arguments, folds, info, clock) +
			       (tree ? below_stacks(*tree, clock, info, by) : "") +
			       (of_its_own ? ratios_text(ratios.table, keep, ratios.how) : ratios.how),
			   cpus,
			   !by_cpu && !machine.scope().threads &&
			       (of_its_own || (!folds.counters && !folds.totals && !folds.samples && !folds.stacks)),
			   hidden, info, summary, trace.problems().total());
	}
	print_problems(trace.problems());
	return trace.problems().empty() ? 0 : 1;
}

// A last word that is neither is more likely a report's name than a directory's.
void expect_trace(const std::string &word, bool is_after_another)
{
	std::error_code ignored;
	if (std::filesystem::exists(word, ignored))
		return;
	const std::vector<std::string> names = report_names();
	if (std::ranges::find(names, word) != names.end())
		throw Error(fmt::format(
		    "there is no directory {}; the name of a report comes last: monitor report DIR {}", word, word));
	if (is_after_another)
		throw Error(fmt::format("{} is neither a trace nor a report; the reports are {}.{}", word,
					fmt::join(names, ", "), suggestions(word, names)));
}

// Several traces, and those of a collection, are several recordings: what is known of threads and CPUs is not carried
// from one to another. Only requests lead from one to another.
int run_report(const ReportArguments &arguments)
{
	int exit_code = 0;
	OfSeveral of;
	std::vector<std::string> directories;
	for (const std::string &word : arguments.words)
		expect_trace(word, arguments.words.size() > 1);
	if (arguments.is(What::requests))
		return report_requests(arguments);
	for (const std::string &word : arguments.words) {
		const auto recordings = trace::Trace::recordings_in(word);
		directories.insert(directories.end(), recordings.begin(), recordings.end());
	}
	const bool are_several = directories.size() > 1;
	if (are_several && !arguments.plot.file.empty())
		throw CLI::ValidationError("--svg draws one trace: name one");
	if (are_several && arguments.json)
		fmt::print("[");
	for (const std::string &directory : directories) {
		const bool is_first = &directory == directories.data();
		if (are_several)
			of.trace = directory;
		if (are_several && arguments.json)
			fmt::print("{}", is_first ? "" : ",\n");
		else if (are_several && !arguments.csv && !arguments.folded)
			fmt::print("{}{}:\n", is_first ? "" : "\n", printable(directory));
		try {
			exit_code = std::max(exit_code, report_one(arguments, directory, of));
		} catch (const Error &error) { // the others have an answer all the same
			if (!are_several)
				throw;
			std::fflush(stdout);
			print_error(error.what());
			if (arguments.json)
				fmt::print("null");
			exit_code = 1;
		}
	}
	if (are_several && arguments.json)
		fmt::print("]\n");
	return exit_code;
}

} // namespace

void add_report(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("report", "show who used the CPUs, in which mode, and what they waited for");
	auto arguments = std::make_shared<ReportArguments>();
	add_report_options(*command, *arguments);
	command->callback([arguments, command, &exit_code] {
		if (command->count("--top") && arguments->top == 0)
			arguments->top = ~std::size_t(0);
		take_report(*arguments);
		expect_fitting(*arguments);
		if (arguments->is(What::help))
			print_reports();
		else if (!arguments->output.empty())
			exit_code = write_flame_page(*arguments);
		else
			exit_code = run_report(*arguments);
	});
}

} // namespace monitor
