// SPDX-License-Identifier: MIT
// `monitor states`: which states of a tree the CPUs, the threads or the machine were in, and for how long. One pass of
// reading/states/, printed by answers/run_lengths/; a pass before it if threads are selected.
// Exit code: 0, or 1 if parts of the trace are damaged.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "answers/report/statistics_table.h"
#include "answers/run_lengths/run_list.h"
#include "answers/run_lengths/run_tables.h"
#include "answers/run_lengths/totals.h"
#include "answers/selection/thread_selection.h"
#include "base/error.h"
#include "base/text.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "print_table.h"
#include "problems.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/pull.h"
#include "reading/states/automaton.h"
#include "reading/states/evaluator.h"
#include "reading/states/pattern.h"
#include "reading/states/recorded_runs.h"
#include "reading/states/tree.h"
#include "selection.h"

namespace monitor {
namespace {

using states::Subject;

struct StatesArguments {
	std::vector<std::string> directories;
	std::string tdl, tree, match;
	Selection selection;
	bool each = false, runs = false, histogram = false, json = false, csv = false;
	std::optional<std::size_t> top; // 0: all

	report::Format format() const { return format_of(json, csv); }
};

constexpr std::size_t subjects_in_text = 10;

// An explicit 0 means all.
std::size_t max_rows_of(const StatesArguments &arguments, std::size_t in_text)
{
	constexpr auto all = std::numeric_limits<std::size_t>::max();
	const std::size_t most = arguments.top.value_or(arguments.format() == report::Format::text ? in_text : all);
	return most ? most : all;
}

// Refuses selections that do not apply to the tree.
void expect_selection_of(const states::Tree &tree, const Selection &selection)
{
	const auto refuse = [&](const char *options, const char *subject) {
		throw Error("{} is a tree of a {}: {} select{} {}s", readable(tree.name()),
			    subject_name(tree.subject()), options, options[2] == 'c' ? "s" : "", subject);
	};
	if (tree.subject() != Subject::cpu && !selection.cpus.empty())
		refuse("--cpu", "CPU");
	if (tree.subject() != Subject::thread && !selection.threads.is_all())
		refuse("--pid, --tid, --comm, --cgroup and --command", "thread");
}

// CPUs by number, threads by CPU time.
std::vector<std::size_t> order_of(const std::vector<states::Who> &subjects)
{
	std::vector<std::size_t> order(subjects.size());
	std::iota(order.begin(), order.end(), std::size_t{0});
	std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
		const states::Who &x = subjects[a], &y = subjects[b];
		return x.thread && y.thread ? x.thread->so_far.cpu > y.thread->so_far.cpu : x.cpu < y.cpu;
	});
	return order;
}

void print_totals(const run_lengths::Totals &totals, const run_lengths::Context &context,
		  const StatesArguments &arguments)
{
	const bool is_text = context.format == report::Format::text;
	std::vector<std::size_t> order(totals.groups());
	std::size_t hidden = 0;
	if (arguments.each) {
		order = order_of(context.subjects);
		const std::size_t kept = std::min(order.size(), max_rows_of(arguments, subjects_in_text));
		hidden = order.size() - kept;
		order.resize(kept);
	}
	const report::Table table = totals_table(totals, context, arguments.each, order);
	const auto histograms = [&] { return run_lengths::histograms(totals, context, arguments.each, order); };
	if (arguments.json && arguments.histogram) {
		fmt::print("{{\"rows\": {}, \"histograms\": {}}}\n", report::to_json(table),
			   report::histograms_json(histograms(), {}, &context.clock));
		return;
	}
	print_table(table, context.format);
	if (is_text)
		fmt::print("{}", report::more_rows_text(hidden));
	if (!is_text)
		return;
	fmt::print("\n{}percentiles are within 0.8 %\n", run_lengths::summary(totals, context));
	if (arguments.histogram)
		fmt::print("{}", report::histograms_text(histograms(), {}, &context.clock,
							 std::numeric_limits<std::size_t>::max()));
}

void print_runs(const run_lengths::RunList &list, const run_lengths::Context &context, const StatesArguments &arguments)
{
	std::size_t left_out = 0;
	print_table(runs_table(list, context, max_rows_of(arguments, report::rows_in_text), left_out), context.format);
	if (context.format == report::Format::text)
		fmt::print("{}", report::more_rows_text(left_out));
}

void print_matches(const run_lengths::RunList &list, const states::Automaton &automaton,
		   const run_lengths::Context &context, const StatesArguments &arguments)
{
	const run_lengths::Matches matches = matches_of(list, automaton);
	const std::size_t most = std::min(matches.all.size(), max_rows_of(arguments, report::rows_in_text));
	const report::Table table = matches_table(matches, list, context, most);
	const activities::Rows histogram = matches_histogram(matches, arguments.match);
	if (arguments.json && arguments.histogram) {
		fmt::print("{{\"rows\": {}, \"histograms\": {}}}\n", report::to_json(table),
			   report::histograms_json(histogram, {}, &context.clock));
		return;
	}
	const bool is_text = context.format == report::Format::text;
	if (!is_text || !matches.all.empty())
		print_table(table, context.format);
	if (!is_text)
		return;
	fmt::print("{}", report::more_rows_text(matches.all.size() - std::min(most, matches.all.size())));
	fmt::print("{}{}{}", matches.all.empty() ? "" : "\n", matches_summary(matches, list, context),
		   report::histograms_text(histogram, {}, &context.clock, 1));
}

// The source of the run lengths.
struct RunSource {
	const std::vector<states::Who> &subjects;
	std::uint64_t window_ticks;
};

// With --tree computes the states from events; without it reads what the recorder computed (record --states).
RunSource read_runs(trace::Trace &trace, const analyze::RecordingInfo &info, const StatesArguments &arguments,
		    const states::Tree &tree, states::RunSink &sink, std::optional<states::Evaluator> &evaluator,
		    std::optional<states::RecordedRuns> &recorded)
{
	if (!arguments.tree.empty()) {
		if (info.has_only_states())
			throw Error(
			    "this recording has no events, only the run lengths of its tree {}: leave out --tree",
			    readable(info.states->name));
		evaluator.emplace(tree, analyze::input_of(trace, info), info, trace.begin_time(),
				  analyze::window_of(trace, info), arguments.selection.scope(trace, info), sink);
		evaluate(trace, *evaluator);
		return {evaluator->subjects(), evaluator->window_end() - evaluator->window_begin()};
	}
	const selection::ThreadSelection &threads = arguments.selection.threads;
	const std::vector<std::uint32_t> &cpus = arguments.selection.cpus;
	const auto is_selected = selection::condition_of(trace, info, threads);
	recorded.emplace(
	    trace, info, arguments.selection.range(trace, analyze::window_of(trace, info)),
	    [&](const states::RecordedRuns::Subject &subject) {
		    const analyze::Thread &thread = subject.thread;
		    const bool is_of_cpu = cpus.empty() || std::ranges::find(cpus, subject.cpu) != cpus.end();
		    const auto was_there = [&](std::uint64_t cgroup) {
			    return is_selected({thread.tid, thread.tgid, thread.name, thread.in_tree, cgroup});
		    };
		    return is_of_cpu && (threads.is_all() || std::ranges::any_of(subject.cgroups, was_there));
	    });
	recorded->read(sink);
	return {recorded->subjects(), recorded->window_end() - recorded->window_begin()};
}

std::uint64_t tokens_of_recorder(trace::Trace &trace)
{
	std::uint64_t tokens = 0;
	trace::Pull pull(trace, {}, [](const trace::Stream &stream) { return stream.info().is_recorder(); });
	for (auto item = pull.next(); item != trace::Cursor::Item::end; item = pull.next())
		tokens += item == trace::Cursor::Item::event;
	return tokens;
}

int run_states(const StatesArguments &arguments)
{
	std::optional<states::Tree> named;
	if (!arguments.tree.empty())
		named = states::load_tree(arguments.tree);
	trace::Trace trace = open_trace(arguments.directories, arguments.tdl);
	expect_events(trace, "a classification");
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	const states::Tree tree = named ? std::move(*named) : states::recorded_tree(info);
	expect_selection_of(tree, arguments.selection);
	std::optional<states::Automaton> automaton;
	if (!arguments.match.empty())
		automaton.emplace(states::parse_pattern(arguments.match, tree), tree);
	run_lengths::Totals totals(tree, arguments.each);
	run_lengths::RunList list;
	states::RunSink &sink = arguments.runs || automaton ? static_cast<states::RunSink &>(list) : totals;
	std::optional<states::Evaluator> evaluator;
	std::optional<states::RecordedRuns> recorded;
	const RunSource source = read_runs(trace, info, arguments, tree, sink, evaluator, recorded);
	const run_lengths::Context context{tree,
					   source.subjects,
					   source.window_ticks,
					   trace.description().clock,
					   trace.begin_time(),
					   arguments.selection.time_text(trace),
					   arguments.format()};
	totals.finish();
	if (source.subjects.empty())
		print_note(recorded && arguments.selection.is_all()
			       ? fmt::format("monitor: this trace has no run lengths of any {}\n",
					     subject_name(tree.subject()))
			       : fmt::format("monitor: no {} of this trace matches the options\n",
					     subject_name(tree.subject())));
	if (!info.unknown_text().empty())
		print_note("monitor: {}\n", info.unknown_text());
	if (recorded && !info.complete())
		print_note("monitor: this trace is incomplete: the recording was killed or its disk was full; the last "
			   "states are missing, and so are threads that were new\n");
	else if (recorded && info.recorder.control_tokens && tokens_of_recorder(trace) < *info.recorder.control_tokens)
		print_note("monitor: run lengths that were recorded are not in the files of this trace: parts of it "
			   "were removed or damaged; `monitor check` says which\n");
	if (automaton)
		print_matches(list, *automaton, context, arguments);
	else if (arguments.runs)
		print_runs(list, context, arguments);
	else
		print_totals(totals, context, arguments);
	return print_problems(trace.problems());
}

void add_options(CLI::App &command, StatesArguments &arguments)
{
	add_traces(command, arguments.directories, arguments.tdl);
	add_option(command, "--tree", "TREE", arguments.tree,
		   "the tree of states: a file, or the name of a shipped one: cpu, thread or request (default: that of "
		   "record --states)");
	add_selection(command, arguments.selection, "show only");
	CLI::Option *each = command.add_flag("--each", arguments.each, "show each CPU or thread apart");
	command
	    .add_flag("--runs", arguments.runs, "list the run lengths: each state that was entered, in order of time")
	    ->excludes(each);
	add_option(command, "--match", "PATTERN", arguments.match,
		   "find where the sequence of states matches this: 'idle (call+ wait)*', '5 1+ 9'")
	    ->excludes(each)
	    ->excludes("--runs");
	command
	    .add_flag("--histogram", arguments.histogram,
		      "print a histogram of the durations, by powers of two; with --json in full")
	    ->excludes("--runs");
	add_option(command, "--top", "N", arguments.top,
		   "print at most N rows, or with --each N CPUs or threads (0: all; default in text: 40, 10)")
	    ->check(row_count_error);
	command.add_flag("--json", arguments.json, "print JSON instead of text");
	command.add_flag("--csv", arguments.csv, "print CSV instead of text")
	    ->excludes("--json")
	    ->excludes("--histogram");
}

} // namespace

void add_states(CLI::App &app, int &exit_code)
{
	auto arguments = std::make_shared<StatesArguments>();
	CLI::App *command = app.add_subcommand(
	    "states", "show which states the CPUs, the threads or the machine were in, and for how long");
	add_options(*command, *arguments);
	command->footer("Exit code: 0, or 1 if parts of the trace are damaged.\n"
			"Examples:\n"
			"  monitor states DIR --tree cpu\n"
			"  monitor states DIR                (recorded with --states)\n"
			"  monitor states DIR --tree thread --command --each\n"
			"  monitor states DIR --tree my.tree --runs --from 0.5 --to 0.6 --cpu 0\n"
			"  monitor states DIR --tree cpu --match 'idle interrupted+ user'");
	command->callback([arguments, &exit_code] { exit_code = run_states(*arguments); });
}

} // namespace monitor
