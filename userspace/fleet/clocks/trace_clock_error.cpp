// SPDX-License-Identifier: MIT
#include "trace_clock_error.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"

namespace monitor::fleet {
namespace {

using WideTicks = unsigned __int128;

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// All intervals, also those before the load started and after it ended; none if clock sets are missing, as a time may
// then be converted by an unknown line. Reads only the recorder's stream.
std::vector<analyze::ClockInterval> read_intervals(trace::Trace &trace, analyze::RecordingInfo info)
{
	info.start.time.reset();
	info.lives.clear();
	info.end.time.reset();
	analyze::ClockBound bound(trace.description(), info);
	trace::MergedCursors cursors(trace, trace.problems(), [](trace::Cursor &cursor) {
		if (cursor.stream().info().is_recorder())
			cursor.start(0);
	});
	cursors.walk(
	    no_limit,
	    [&](trace::Cursor &cursor, std::uint64_t before) {
		    return cursor.visit_before(before, [&](const trace::Event &event) { bound.event(event); });
	    },
	    [](const trace::Cursor &) { return true; });
	return bound.steps().missing ? std::vector<analyze::ClockInterval>() : bound.intervals();
}

// The time between two nodes, before the first (0), or after the last. Touched: by at least a point; entered: by more.
struct Window {
	std::uint64_t from, to;

	bool is_touched_by(std::uint64_t begin, std::uint64_t end) const { return begin <= to && end >= from; }
	bool is_entered_by(std::uint64_t begin, std::uint64_t end) const
	{
		return begin < end && begin < to && end > from;
	}
};

Window window_at(const collection::ClockLines &lines, std::size_t number)
{
	return {number == 0 ? 0 : lines.nodes[number - 1].ticks,
		number == lines.nodes.size() ? no_limit : lines.nodes[number].ticks};
}

// Adds a node on the line, so that the bound may change there. Its time is rounded down.
void split_window(collection::ClockLines &lines, std::uint64_t ticks)
{
	const auto after = std::ranges::upper_bound(lines.nodes, ticks, {}, &trace::ClockNode::ticks);
	if (after == lines.nodes.begin() || after == lines.nodes.end() ||
	    lines.nodes.size() >= trace::ClockMap::max_nodes)
		return;
	const trace::ClockNode before = *(after - 1);
	const auto height = static_cast<std::uint64_t>(after->ns - before.ns);
	const auto ns = before.ns + static_cast<std::int64_t>(WideTicks(height) * (ticks - before.ticks) /
							      (after->ticks - before.ticks));
	const auto number = after - lines.nodes.begin();
	if (ns <= before.ns || ns >= after->ns)
		return;
	trace::ClockBoundNs &bound = lines.bounds_ns[static_cast<std::size_t>(number)];
	if (bound)
		++*bound;
	lines.nodes.insert(after, {ticks, ns});
	lines.bounds_ns.insert(lines.bounds_ns.begin() + number, trace::ClockBoundNs(bound));
	lines.infeasible += !bound;
	++lines.windows;
}

void split_where_known(collection::ClockLines &lines, const TraceClockError &error)
{
	if (!error.has_snapshots || error.intervals.empty())
		return;
	if (error.begin < error.intervals.front().from)
		split_window(lines, error.intervals.front().from);
	if (error.intervals.back().to < error.end)
		split_window(lines, error.intervals.back().to);
}

// The largest bound of the intervals that touch the window. Empty: they do not cover the trace's times in it.
trace::ClockBoundNs bound_in(const TraceClockError &error, const Window &window)
{
	const auto &intervals = error.intervals;
	if (intervals.empty() || window.is_entered_by(error.begin, intervals.front().from) ||
	    window.is_entered_by(intervals.back().to, error.end))
		return std::nullopt;
	std::uint64_t most = 0;
	auto interval = std::ranges::lower_bound(intervals, window.from, {}, &analyze::ClockInterval::to);
	for (; interval != intervals.end() && interval->from <= window.to; ++interval)
		most = std::max(most, error.ns(interval->bound));
	return most;
}

} // namespace

std::uint64_t TraceClockError::ns(std::uint64_t ticks) const
{
	constexpr std::uint64_t second_ns = 1'000'000'000;
	const WideTicks made =
	    (WideTicks(ticks) * second_ns + frequency_hz - 1) / std::max<std::uint64_t>(frequency_hz, 1);
	return made > no_limit ? no_limit : static_cast<std::uint64_t>(made);
}

std::optional<TraceClockError> trace_clock_error_of(const std::string &directory)
{
	try {
		trace::Trace trace = trace::Trace::open(directory);
		const bool has_one_clock = std::none_of(trace.streams().begin(), trace.streams().end(),
							[](const auto &stream) { return stream->maps_time(); });
		if (trace.is_empty() || !has_one_clock)
			return std::nullopt;
		TraceClockError error{trace.first_time(), trace.end_time(), trace.description().clock.frequency_hz};
		const analyze::RecordingInfo info = analyze::recording_of(trace);
		error.skew_ticks = info.skew().ticks;
		error.has_snapshots = !info.statistics && !trace.description().find("sync").empty();
		if (error.has_snapshots)
			error.intervals = read_intervals(trace, info);
		return error;
	} catch (const Error &) { // blocks are missing or damaged: reading the run reports it
		return std::nullopt;
	}
}

void add_clock_errors(collection::ClockLines &lines, const std::vector<TraceClockError> &all)
{
	if (lines.nodes.empty())
		return;
	for (const TraceClockError &error : all)
		split_where_known(lines, error);
	for (std::size_t number = 0; number < lines.bounds_ns.size(); ++number) {
		trace::ClockBoundNs &bound = lines.bounds_ns[number];
		const Window window = window_at(lines, number);
		std::uint64_t most = 0;
		for (const TraceClockError &error : all) {
			if (!bound || !error.has_snapshots || !window.is_touched_by(error.begin, error.end))
				continue;
			const auto largest_bound = bound_in(error, window);
			lines.not_witnessed += !largest_bound;
			if (!largest_bound)
				bound.reset();
			most = std::max(most, largest_bound.value_or(0));
			lines.own_ns = std::max(lines.own_ns.value_or(0), most);
		}
		if (bound)
			*bound += std::min(most, no_limit - *bound);
	}
}

} // namespace monitor::fleet
