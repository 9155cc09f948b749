// SPDX-License-Identifier: MIT
// `monitor stat`: how often, how far apart, how long. One pass of answers/statistics/, printed by answers/report/.
// Exit code: 0, or 1 if parts of the trace are damaged.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "answers/report/periods_table.h"
#include "answers/report/statistics_table.h"
#include "answers/report/summary.h"
#include "answers/statistics/survey.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/text.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "plots.h"
#include "print_table.h"
#include "problems.h"
#include "reading/activities/table.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/thread_fold.h"
#include "selection.h"

namespace monitor {
namespace {

using namespace activities;
using namespace statistics;

using Charts = std::vector<plot::Chart>;

struct StatArguments {
	std::vector<std::string> directories;
	std::string tdl;
	std::string by, table, start, end, key, pair, value, sort;
	std::vector<std::string> events; // names and patterns; empty: all
	Selection selection;
	PlotArguments plot;
	bool nested = false, counts = false, histogram = false, json = false, csv = false;
	std::optional<std::size_t> top; // 0: all
	unsigned threads = 0;

	bool measures_activities() const { return !(table + start + end + pair).empty(); }
};

constexpr std::size_t histograms_in_text = 10;

// Before a recording's start time only some probes were attached.
trace::TimeRange window_of(const trace::Trace &trace)
{
	return analyze::window_of(trace, analyze::recording_of(trace));
}

double wall_ns(const trace::Trace &trace, const trace::TimeRange &range)
{
	const trace::TimeRange window = window_of(trace);
	const std::uint64_t begin = std::max(range.from, window.from), end = std::min(range.to, window.to);
	return static_cast<double>(end > begin ? trace.description().clock.to_ns(end - begin) : 0);
}

Question question_of(const StatArguments &arguments, const trace::Trace &trace)
{
	Question question;
	const trace::TimeRange window = window_of(trace);
	question.range = arguments.selection.range(trace, window);
	if (analyze::recording_of(trace).start_time()) {
		question.range.from = std::max(question.range.from, window.from);
		question.range.to = std::min(question.range.to, window.to);
	}
	question.selection = arguments.selection.events(trace);
	question.filter = arguments.selection.event_filter(trace);
	if (!arguments.events.empty()) {
		const std::vector<std::string> names = event_names(arguments.events, trace.description());
		for (const auto &cls : trace.description().classes())
			question.classes.push_back(std::ranges::find(names, cls->name) != names.end());
	}
	question.threads = arguments.threads ? arguments.threads : std::max(std::thread::hardware_concurrency(), 1u);
	return question;
}

bool is_text(const StatArguments &arguments)
{
	return !arguments.json && !arguments.csv;
}

// An explicit 0 means all.
std::size_t max_rows_of(const StatArguments &arguments, std::size_t in_text)
{
	constexpr auto all = std::numeric_limits<std::size_t>::max();
	const std::size_t most = arguments.top.value_or(is_text(arguments) ? in_text : all);
	return most ? most : all;
}

// Sorts, truncates and plots the table as the options require. `row`: the row that a plot is of. Returns the number of
// hidden rows.
std::size_t prepare_table(report::Table &table, const StatArguments &arguments, const char *sorted_by, Charts &charts,
			  const std::string &row = "")
{
	table.sort_by(table.column(arguments.sort.empty() ? sorted_by : arguments.sort));
	const std::size_t before = table.rows.size();
	table.keep_top(std::min(before, max_rows_of(arguments, report::rows_in_text)));
	if (arguments.plot.is_asked())
		charts.push_back(plot::chart_of(table, {row.empty() ? "stat" : "stat " + row, arguments.sort}));
	return before - table.rows.size();
}

// A table on standard output, in the requested format.
void print_figures(report::Table table, const StatArguments &arguments, const char *sorted_by, Charts &charts)
{
	const std::size_t hidden = prepare_table(table, arguments, sorted_by, charts);
	if (arguments.plot.in_text)
		fmt::print("{}", plot_text({charts.back()}));
	else
		print_table(table, format_of(arguments.json, arguments.csv));
	if (is_text(arguments))
		fmt::print("{}", report::more_rows_text(hidden));
}

// Prints the rows' histograms below their table.
void print_histograms(const Rows &rows, const ThreadTable &threads, const trace::Clock *ticks,
		      const StatArguments &arguments, Charts &charts)
{
	const std::size_t most = max_rows_of(arguments, histograms_in_text);
	const std::size_t before = charts.size();
	if (arguments.plot.is_asked())
		for (const report::Bins &bins : report::bins_of(rows, threads, ticks, most))
			charts.push_back(plot::chart_of(bins, "stat"));
	if (arguments.plot.in_text)
		fmt::print("\n{}",
			   plot_text(Charts(charts.begin() + static_cast<std::ptrdiff_t>(before), charts.end())));
	else if (is_text(arguments))
		fmt::print("{}", report::histograms_text(rows, threads, ticks, most));
}

// What the figures exclude, one line each.
std::string left_out_text(const trace::Trace &trace, const trace::Losses &losses, std::uint64_t left_out)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	const std::uint64_t paused = losses.gaps ? info.paused() : 0;
	std::string text;
	if (left_out)
		text += fmt::format(
		    "{} events are in no row, as there are more than {} rows: use --filter or fewer names\n",
		    report::count_text(left_out), Rows::max_rows);
	if (losses.gaps && info.has_only_phases())
		text += "all probes were detached at times to calibrate: counts are too small, and nothing is measured "
			"across these gaps\n";
	else if (losses.gaps)
		text += fmt::format("{} events are {}{}: counts are too small, and nothing is measured across a {}\n",
				    losses.all_counted ? report::count_text(losses.lost) : "an unknown number of",
				    paused == 0             ? "lost"
				    : paused == losses.lost ? "not stored in pauses"
							    : "lost or not stored in pauses",
				    losses.all_counted ? "" : " (in " + std::to_string(losses.gaps) + " places)",
				    paused && paused == losses.lost ? "pause" : "loss");
	if (info.present && !info.complete())
		text += fmt::format("{}\n", report::incomplete_text);
	return text + report::damage_text(trace.problems().total());
}

// From when on events are counted, if there are earlier ones and no option sets it; else "".
std::string counted_from_text(const trace::Trace &trace, const StatArguments &arguments)
{
	const std::uint64_t from = window_of(trace).from, begin = trace.first_time();
	if (!arguments.selection.from.empty() || from <= begin)
		return "";
	return fmt::format(
	    "counted from when all probes were attached and the command was let go, {} after the first event\n",
	    report::duration_text(static_cast<double>(trace.description().clock.to_ns(from - begin))));
}

// Printed after a text table; on standard error with JSON and CSV.
void print_below(const trace::Trace &trace, const StatArguments &arguments, const trace::Losses &losses,
		 std::uint64_t left_out, bool percentiles, const Charts &charts)
{
	const std::string text = left_out_text(trace, losses, left_out);
	if (percentiles && is_text(arguments))
		fmt::print("percentiles are within 0.8 %\n");
	if (is_text(arguments))
		fmt::print("{}", counted_from_text(trace, arguments));
	fmt::print(is_text(arguments) ? stdout : stderr, "{}", text);
	write_svg(charts, arguments.plot.file, text);
}

// A table and its histograms. `ticks`: values are in ticks of this clock.
void print_rows(report::Table table, const Rows &rows, const ThreadTable &threads, const trace::Clock *ticks,
		const StatArguments &arguments, Charts &charts)
{
	if (arguments.json && arguments.histogram) {
		prepare_table(table, arguments, "count", charts);
		fmt::print("{{\"rows\": {}, \"histograms\": {}}}\n", report::to_json(table),
			   report::histograms_json(rows, threads, ticks));
	} else {
		print_figures(std::move(table), arguments, "count", charts);
	}
	if (arguments.histogram)
		print_histograms(rows, threads, ticks, arguments, charts);
}

// Reads the trace only to map threads to processes.
struct Nothing {
	void event(const trace::Event &, const filter::Running &) {}
	void gap(std::uint64_t) {}
	void merge(const Nothing &) {}
};

ThreadTable threads_of(trace::Trace &trace, const Question &question)
{
	Question all;
	all.threads = question.threads;
	all.needs_threads = true;
	return survey(trace, all, [] { return Nothing(); }).threads;
}

void print_counts(trace::Trace &trace, const StatArguments &arguments, const Question &question, Charts &charts)
{
	const ClassNames names(trace.description());
	const auto found = survey(trace, question, [&names] { return Counts(names); });
	print_figures(report::counts_table(found.fold, trace.description(), wall_ns(trace, question.range)), arguments,
		      "count", charts);
	print_below(trace, arguments, found.losses, 0, false, charts);
}

// Whether grouping by these keys needs state from before the selected events.
bool needs_earlier_events(const Keys &keys, const Question &question, const trace::Trace &trace)
{
	return std::ranges::any_of(trace.description().classes(), [&](const auto &cls) {
		return keys.derives(*cls) && (question.classes.empty() || question.classes[cls->index]) &&
		       (!question.filter || question.filter->can_match(*cls));
	});
}

void print_frequencies(trace::Trace &trace, const StatArguments &arguments, Question &question, Charts &charts)
{
	Keys by(split_names(arguments.by, "--by"), trace.description(), trace.begin_time(), "--by");
	question.needs_threads = by.needs_threads();
	question.needs_names = needs_earlier_events(by, question, trace);
	// the time between events of a process cannot be derived from those of its threads
	const ThreadTable threads = by.has_processes() ? threads_of(trace, question) : ThreadTable();
	by.set_threads(threads);
	const ClassNames names(trace.description());
	const auto found = survey(trace, question, [&] { return Frequencies(names, by); });
	print_rows(report::frequencies_table(found.fold, trace.description(), by.names(), found.threads,
					     wall_ns(trace, question.range)),
		   arguments.histogram ? found.fold.between(trace.description()) : Rows(), found.threads,
		   &trace.description().clock, arguments, charts);
	print_below(trace, arguments, found.losses, found.fold.left_out(), true, charts);
}

void print_values(trace::Trace &trace, const StatArguments &arguments, Question &question, Charts &charts)
{
	const Keys by(split_names(arguments.by, "--by"), trace.description(), trace.begin_time(), "--by");
	const Keys value({arguments.value}, trace.description(), trace.begin_time(), "--value", Keys::Takes::numbers);
	if (value.is_real() && arguments.histogram)
		throw Error("--histogram has bins of integers, and {} is a real number", printable(arguments.value));
	question.needs_threads = by.needs_threads() || value.needs_threads();
	question.needs_names =
	    needs_earlier_events(by, question, trace) || needs_earlier_events(value, question, trace);
	auto found = survey(trace, question, [&] { return Values(value, by); });
	found.fold.rows().join_processes(found.threads);
	const Rows &rows = found.fold.rows();
	print_rows(report::values_table(rows, value, by.names(), found.threads), rows, found.threads, nullptr,
		   arguments, charts);
	print_below(trace, arguments, found.losses, rows.left_out(), true, charts);
}

Table table_of(const StatArguments &arguments)
{
	if (!arguments.table.empty()) {
		Table table = load_table(arguments.table);
		if (table.has_states())
			throw Error("{} is a table of states of threads: `monitor report DIR syscalls` and `monitor "
				    "report DIR offcpu` print them",
				    printable(arguments.table));
		return table;
	}
	Table table;
	table.activities.push_back({"activity", arguments.start, arguments.end, "", arguments.key, arguments.by,
				    arguments.nested, arguments.pair.empty() ? "--start, --end" : "--pair",
				    arguments.pair});
	return table;
}

double total_of(const std::vector<Pairs> &all, const std::string &name)
{
	double total = 0;
	for (const Pairs &pairs : all)
		for (const auto &[key, row] : pairs.rows().all())
			total += pairs.definition().name == name ? row.values.total() : 0;
	return total;
}

void print_ratios(const Table &table, const std::vector<Pairs> &all, bool json)
{
	for (const RatioText &ratio : table.ratios) {
		const double below = total_of(all, ratio.denominator);
		const std::string value = below > 0 ? fmt::format("{:.6g}", total_of(all, ratio.numerator) / below)
					  : json    ? "null"
						    : "n/a";
		if (json)
			fmt::print("{}{{\"ratio\": {}, \"value\": {}}}", &ratio == table.ratios.data() ? "" : ", ",
				   json_text(ratio.name), value);
		else
			fmt::print("{} = {} / {} = {}\n", printable(ratio.name), printable(ratio.numerator),
				   printable(ratio.denominator), value);
	}
}

report::Table table_of(const Pairs &pairs, const ThreadTable &threads, const trace::Clock &clock)
{
	return report::pairs_table(pairs.rows(), pairs.definition().columns, threads, clock);
}

void print_json(const Table &table, const std::vector<Pairs> &all, const ThreadTable &threads,
		const trace::Clock &clock, const StatArguments &arguments, Charts &charts)
{
	fmt::print("{{\"activities\": [");
	for (const Pairs &pairs : all) {
		report::Table rows = table_of(pairs, threads, clock);
		prepare_table(rows, arguments, "total_ns", charts, pairs.definition().name);
		if (arguments.histogram)
			print_histograms(pairs.rows(), threads, &clock, arguments, charts);
		fmt::print("{}{{\"activity\": {}, \"rows\": {}, \"unpaired\": {}", &pairs == all.data() ? "" : ",\n",
			   json_text(pairs.definition().name), report::to_json(rows), report::unpaired_json(pairs));
		if (arguments.histogram)
			fmt::print(", \"histograms\": {}", report::histograms_json(pairs.rows(), threads, &clock));
		fmt::print("}}");
	}
	fmt::print("],\n\"ratios\": [");
	print_ratios(table, all, true);
	fmt::print("]}}\n");
}

void print_csv(const std::vector<Pairs> &all, const ThreadTable &threads, const trace::Clock &clock,
	       const StatArguments &arguments, Charts &charts)
{
	std::vector<std::pair<std::string, report::Table>> parts;
	for (const Pairs &pairs : all) {
		parts.emplace_back(pairs.definition().name, table_of(pairs, threads, clock));
		prepare_table(parts.back().second, arguments, "total_ns", charts, pairs.definition().name);
		if (const std::string unpaired = report::unpaired_text(pairs); !unpaired.empty())
			print_note("{}: not measured: {}\n", printable(pairs.definition().name), unpaired);
	}
	fmt::print("{}", report::to_csv(parts.size() == 1 ? parts.front().second : report::joined(parts)));
}

void print_text(const Table &table, const std::vector<Pairs> &all, const ThreadTable &threads,
		const trace::Clock &clock, const StatArguments &arguments, Charts &charts)
{
	if (!table.title.empty())
		fmt::print("{}\n\n", printable(table.title));
	for (const Pairs &pairs : all) {
		if (all.size() > 1)
			fmt::print("{}{}:\n", &pairs == all.data() ? "" : "\n", printable(pairs.definition().name));
		print_figures(table_of(pairs, threads, clock), arguments, "total_ns", charts);
		if (arguments.histogram)
			print_histograms(pairs.rows(), threads, &clock, arguments, charts);
		if (const std::string unpaired = report::unpaired_text(pairs); !unpaired.empty())
			fmt::print("not measured: {}\n", unpaired);
	}
	print_ratios(table, all, false);
}

void print_activities(trace::Trace &trace, const StatArguments &arguments, Question &question, Charts &charts)
{
	const Table table = table_of(arguments);
	std::vector<Definition> definitions;
	for (const DefinitionText &text : table.activities) {
		definitions.push_back(compile(text, trace.description(), trace.begin_time()));
		question.needs_threads = question.needs_threads || definitions.back().needs_threads;
		question.needs_names = question.needs_names || definitions.back().needs_names;
	}
	// Activities count where they end, so those that started earlier are included.
	question.lead_from = analyze::recording_of(trace).start_time() ? window_of(trace).from : 0;
	const SelectedEnds selected{&question.selection, question.filter ? &*question.filter : nullptr};
	auto found = survey(trace, question, [&] { return Activities(definitions, selected); });
	for (const Definition &definition : definitions) {
		print_undecided(*definition.start, "the start of " + printable(definition.name));
		print_undecided(*definition.end, "the end of " + printable(definition.name));
	}
	std::vector<Pairs> &all = found.fold.all();
	const trace::Clock &clock = trace.description().clock;
	for (Pairs &pairs : all)
		pairs.rows().join_processes(found.threads);
	(arguments.json  ? print_json(table, all, found.threads, clock, arguments, charts)
	 : arguments.csv ? print_csv(all, found.threads, clock, arguments, charts)
			 : print_text(table, all, found.threads, clock, arguments, charts));
	print_below(trace, arguments, found.losses, 0, true, charts);
}

// For recordings of statistics, which have no events.
void print_periods(trace::Trace &trace, const StatArguments &arguments, Charts &charts)
{
	const bool has_other = !arguments.by.empty() || arguments.measures_activities() || !arguments.value.empty() ||
			       !arguments.events.empty() || arguments.counts || arguments.histogram ||
			       arguments.selection.filter || !arguments.selection.cpus.empty() ||
			       !arguments.selection.threads.is_all();
	if (has_other)
		expect_events(trace, "more than the numbers of all events");
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::ThreadFold fold(trace, info, arguments.selection.scope(trace, info));
	analyze::feed(trace, fold);
	print_figures(report::periods_table(fold.periods(), trace.description()), arguments, "count", charts);
	if (info.has_counts_only() && is_text(arguments))
		fmt::print("only the numbers of events were recorded (--count-only): how long anything took, and who "
			   "did it, is unknown\n");
	if (fold.periods().lossy)
		fmt::print(is_text(arguments) ? stdout : stderr,
			   "events were lost in {} of {} periods: counts are too small\n", fold.periods().lossy,
			   fold.periods().count);
	write_svg(charts, arguments.plot.file, "");
}

int run_stat(const StatArguments &arguments)
{
	trace::Trace trace = open_trace(arguments.directories, arguments.tdl);
	if (analyze::recording_of(trace).statistics) {
		Charts charts;
		print_periods(trace, arguments, charts);
		return print_problems(trace.problems());
	}
	Question question = question_of(arguments, trace);
	Charts charts;
	if (arguments.measures_activities())
		print_activities(trace, arguments, question, charts);
	else if (!arguments.value.empty())
		print_values(trace, arguments, question, charts);
	else if (arguments.counts)
		print_counts(trace, arguments, question, charts);
	else
		print_frequencies(trace, arguments, question, charts);
	if (question.filter)
		print_undecided(*question.filter);
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	if (!info.unknown_text().empty())
		print_note("{}\n", info.unknown_text());
	if (info.has_partial())
		print_note("the recording's --filter left out events (`monitor info` shows it): these figures are of "
			   "those that it kept\n");
	return print_problems(trace.problems());
}

void add_options(CLI::App &command, StatArguments &arguments)
{
	add_traces(command, arguments.directories, arguments.tdl);
	CLI::Option *by = add_option(command, "--by", "NAME,...", arguments.by,
				     "print a row for each value of these: fields, cpu, name, thread, process ...");
	add_selection(command, arguments.selection, "read only events of");
	add_event_filter(command, arguments.selection, "read only");
	CLI::Option *events = add_option(command, "--event", "NAME,...", arguments.events,
					 "read only events with these names; * and ? match any characters")
				  ->delimiter(',');
	CLI::Option *table = add_option(command, "--table", "TABLE", arguments.table,
					"measure the activities of this table: a file, or the name of a shipped one");
	CLI::Option *start = add_option(command, "--start", "EXPR", arguments.start,
					"an activity starts with an event for which this is true");
	CLI::Option *end = add_option(command, "--end", "EXPR", arguments.end,
				      "an activity ends with an event for which this is true");
	CLI::Option *key =
	    add_option(command, "--key", "NAME,...", arguments.key,
		       "pair a start and an end with the same NAME, or with NAME of the start = NAME of the end");
	CLI::Option *pair = add_option(command, "--pair", "PAIR", arguments.pair,
				       "measure from one event to another: 'A then B [within T] [per KEY]'")
				->excludes(table)
				->excludes(start);
	events->excludes(table)->excludes(start)->excludes(pair);
	start->needs(end)->excludes(table);
	end->needs(start)->excludes(table);
	key->needs(start);
	by->excludes(table);
	command.add_flag("--nested", arguments.nested,
			 "allow several open activities: an end belongs to the last start");
	add_option(command, "--value", "NAME", arguments.value, "show the values of this field instead, a number")
	    ->excludes(table)
	    ->excludes(start)
	    ->excludes(pair);
	CLI::Option *counts =
	    command.add_flag("--counts", arguments.counts, "show only how often events occur, not how far apart")
		->excludes(by)
		->excludes(table)
		->excludes(start)
		->excludes(pair)
		->excludes("--value");
	command
	    .add_flag("--histogram", arguments.histogram,
		      "print a histogram of each row, by powers of two; with --json in full")
	    ->excludes(counts);
	add_option(command, "--sort", "COLUMN", arguments.sort, "sort by this column");
	add_option(command, "--top", "N", arguments.top, "print at most N rows (0: all; default in text: 40)")
	    ->check(row_count_error);
	add_option(command, "--threads", "N", arguments.threads, "read on N CPUs (default: all)")
	    ->check(CLI::Range(1u, 1024u));
	add_plot_options(command, arguments.plot);
	command.add_flag("--json", arguments.json, "print JSON instead of text")->excludes("--plot");
	command.add_flag("--csv", arguments.csv, "print CSV instead of text")
	    ->excludes("--plot")
	    ->excludes("--json")
	    ->excludes("--histogram");
}

} // namespace

void add_stat(CLI::App &app, int &exit_code)
{
	auto arguments = std::make_shared<StatArguments>();
	CLI::App *command =
	    app.add_subcommand("stat", "show how often events occur, how far apart, and how long activities last");
	add_options(*command, *arguments);
	command->footer("A recording counts from when all probes were attached and the command was let go.\n"
			"Exit code: 0, or 1 if parts of the trace are damaged.\n"
			"Examples:\n"
			"  monitor stat DIR\n"
			"  monitor stat DIR --by process --filter 'name == \"page_fault_user\"'\n"
			"  monitor stat DIR --table runqueue --histogram --plot\n"
			"  monitor stat DIR --pair 'name == \"sys_enter\" then name == \"sys_exit\" per tid' --by id\n"
			"  monitor stat DIR --value nr_bytes --by op");
	command->callback([arguments, &exit_code] {
		if (arguments->nested && arguments->start.empty() && arguments->pair.empty())
			throw CLI::RequiresError("--nested", "--start or --pair");
		exit_code = run_stat(*arguments);
	});
}

} // namespace monitor
