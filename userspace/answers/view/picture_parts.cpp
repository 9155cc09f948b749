// SPDX-License-Identifier: MIT
// A picture's answers about parts of the time. Each reads the trace again, with a scope.
#include <fmt/format.h>

#include "answers/report/activities_table.h"
#include "answers/report/flame_graph.h"
#include "answers/report/measurements_table.h"
#include "answers/report/named_stacks.h"
#include "base/error.h"
#include "base/memory_bound.h"
#include "picture.h"
#include "picture_cache.h"
#include "reading/activities/table.h"
#include "reading/activities/totals.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/feed.h"
#include "story.h"
#include "table_json.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned max_line_bins = 4096;

void fold_until(const IsOver &is_over, trace::Trace &trace, analyze::ThreadFold &thread_fold)
{
	analyze::PeriodicCheck periodic;
	analyze::feed(trace, thread_fold, [&](const trace::Event &) {
		if (periodic.is_due() && is_over && is_over())
			throw Error("this was asked for again, or is not wanted any more");
	});
	if (has_no_memory(trace.problems()))
		throw Error(memory_used_up_text());
}

} // namespace

trace::TimeRange Picture::range_of(std::uint64_t from_ticks, std::uint64_t to_ticks) const
{
	if (from_ticks >= std::min(to_ticks, timeline_->ticks()))
		throw Error("this picture has no such part");
	trace::TimeRange range; // all: including its very end
	if (from_ticks > 0)
		range.from = timeline_->begin() + from_ticks;
	if (to_ticks < timeline_->ticks())
		range.to = timeline_->begin() + to_ticks - 1;
	return range;
}

// Throws Error if the trace has changed: all parts of a picture must be of the same trace.
trace::Trace Picture::open_again() const
{
	trace::Trace trace = trace::Trace::open(directories_);
	if (trace.recording_json() != trace_.recording_json() || trace.begin_time() != trace_.begin_time() ||
	    trace.end_time() != trace_.end_time() || PictureCache(directories_, trace).identity() != identity_)
		throw Error("the trace has changed since this picture was made: start monitor view again");
	return trace;
}

Json Picture::table(std::uint64_t from_ticks, std::uint64_t to_ticks, const std::string &by,
		    const IsOver &is_over) const
{
	const bool is_of_states = by == "calls" || by == "sleeps";
	if (!is_usage(by) && !is_of_states)
		throw Error("there is no table by {}: use process, thread, command, cgroup, cpu, calls or sleeps", by);
	if (const auto whole = whole_tables_.find(by);
	    whole != whole_tables_.end() && from_ticks == 0 && to_ticks >= timeline_->ticks())
		return whole->second;
	trace::Trace trace = open_again();
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::ThreadFold thread_fold(trace, info, {range_of(from_ticks, to_ticks), {}, {}});
	if (is_of_states) {
		expect_states(thread_fold.kinds(), by == "calls");
		const activities::Table shipped = activities::load_shipped_table(by == "calls" ? "syscalls" : "offcpu");
		activities::Tracker tracker(analyze::input_of(trace, info), thread_fold,
					    {false, nullptr, by == "sleeps"});
		activities::Totals totals(activities::grouping_of(shipped.activities.front()), thread_fold, tracker);
		tracker.add(totals);
		thread_fold.add(tracker);
		fold_until(is_over, trace, thread_fold);
		tracker.finish();
		return table_json(report::activities_table(totals, totals.rows(), trace.description().clock,
							   report::known_shares(info)));
	}
	fold_until(is_over, trace, thread_fold);
	return usage_json(thread_fold, trace, info, by);
}

void Picture::expect_states(const analyze::EventKinds &kinds, bool of_calls) const
{
	if (const std::string why = report::why_no_states(info_, kinds, of_calls); !why.empty())
		throw Error(why);
}

Json Picture::cases(std::uint64_t from_ticks, std::uint64_t to_ticks, const CasesWanted &wanted,
		    const IsOver &is_over) const
{
	trace::Trace trace = open_again();
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::ThreadFold thread_fold(trace, info, {range_of(from_ticks, to_ticks), {}, {}});
	expect_states(thread_fold.kinds(), wanted.of == CasesWanted::Of::calls);
	Cases cases(thread_fold, wanted, timeline_->begin());
	activities::Tracker tracker(analyze::input_of(trace, info), thread_fold, {});
	tracker.add(cases);
	thread_fold.add(tracker);
	thread_fold.add(static_cast<analyze::TimeObserver &>(cases));
	fold_until(is_over, trace, thread_fold);
	cases.finish();
	return cases.json();
}

std::string Picture::flame_page(std::uint64_t from_ticks, std::uint64_t to_ticks, const IsOver &is_over) const
{
	trace::Trace trace = open_again();
	analyze::ThreadFold thread_fold(trace, info_, {range_of(from_ticks, to_ticks), {}, {}});
	analyze::StackFold fold;
	thread_fold.add(fold);
	fold_until(is_over, trace, thread_fold);
	if (!fold.any())
		throw Error("this recording has no stacks: record with --stacks");
	const trace::Clock &clock = trace.description().clock;
	report::NamedStacks stacks(directories_.front(), clock, info_, thread_fold, fold, {});
	const auto seconds = [&](std::uint64_t ticks) {
		return static_cast<double>(trace.since_begin_ns(timeline_->begin() + ticks)) / 1e9;
	};
	report::FlamePage page;
	page.title = fmt::format("{}, {:.6f} s to {:.6f} s", about_["command"].get<std::string>(), seconds(from_ticks),
				 seconds(std::min(to_ticks, timeline_->ticks())));
	for (const auto &[name, by] : report::stack_groupings)
		if (report::was_recorded(by, info_) && stacks.tree(by).total() > 0 &&
		    (by != report::StackBy::wait || fold.has_wakers()))
			page.graphs.push_back({name, report::is_time(by), &stacks.tree(by), nullptr, &clock, nullptr});
	if (page.graphs.empty())
		throw Error("no stack was taken in this window");
	return report::linked_flame_page(page);
}

Json Picture::story(std::uint64_t from_ticks, std::uint64_t to_ticks, std::size_t thread, const IsOver &is_over) const
{
	trace::Trace trace = open_again();
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::ThreadFold thread_fold(trace, info, {range_of(from_ticks, to_ticks), {}, {}});
	Story story(thread_fold, thread, timeline_->begin());
	thread_fold.add(story);
	fold_until(is_over, trace, thread_fold);
	return story.json(analyze::recorded(trace, info, thread_fold.kinds()));
}

Json Picture::scenes(std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned steps, const IsOver &is_over) const
{
	return scenes_.answer(from_ticks, to_ticks, steps, is_over);
}

// Sums all CPUs, as readings of one would leave gaps where it did not switch.
Json Picture::lines(std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned bins, const IsOver &is_over) const
{
	if (!info_.counters)
		throw Error("this recording has no counters: record with -m, for example -m cpu,cache");
	if (bins == 0 || bins > max_line_bins)
		throw Error("lines have 1 to {} parts", max_line_bins);
	trace::Trace trace = open_again();
	analyze::Scope scope;
	scope.range = range_of(from_ticks, to_ticks);
	analyze::ThreadFold thread_fold(trace, info_, scope);
	const std::uint64_t begin = timeline_->begin() + from_ticks;
	const std::uint64_t every = (std::min(to_ticks, timeline_->ticks()) - from_ticks) / bins + 1;
	analyze::CounterFold fold(trace.description(), *info_.counters, begin, every, scope);
	thread_fold.add(fold);
	fold_until(is_over, trace, thread_fold);
	fold.finish(thread_fold);
	const trace::Clock &clock = trace.description().clock;
	report::Table table;
	table.columns = {{"part", "part", report::Unit::count}};
	report::add_measurement_columns(*info_.counters, table.columns);
	analyze::CounterSums whole = fold.none();
	const auto row_of = [&](std::uint64_t number, const analyze::CounterSums &sums) {
		std::vector<report::Cell> cells = {number};
		report::add_measurements(*info_.counters, sums, clock, cells);
		return cells;
	};
	for (const auto &[number, part] : fold.parts()) {
		analyze::CounterSums all = fold.none();
		for (const auto &[cpu, sums] : part.cpus)
			all += sums;
		whole += all;
		if (number < bins)
			table.rows.push_back(row_of(number, all));
	}
	Json lines = table_json(table);
	table.rows = {row_of(0, whole)};
	lines["whole"] = table_json(table)["rows"][0];
	lines["every"] = every;
	return lines;
}

} // namespace monitor::view
