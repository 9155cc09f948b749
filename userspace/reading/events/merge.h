// SPDX-License-Identifier: MIT
// All events of a trace in time order: the one loop that every analysis runs in.
//
//     merge(trace, {}, [&](const Event &event) { ... });
//     merge(trace, {from, to}, on_event, on_gap);
//
// Each stream is sorted, so a heap (base/merge_heap.h) with one cursor per stream suffices. The stream with the
// earliest event is visited until it passes the time of the next one: within a run of events of one CPU the heap is
// not touched. on_event(const Event &) returns void, or bool: false ends the merge. on_gap(const StreamInfo &,
// std::uint64_t from_time, std::uint64_t to_time, std::uint64_t lost) gets each loss at the time it begins, and
// returns the same; `lost` may be unknown_count. There is one indirect call per run and none per event, and no
// allocation.
// Runs in the caller's thread. Invariant: times never step back; at equal times the stream of lower index comes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/merge_heap.h"
#include "cursor.h"
#include "trace.h"

namespace monitor::trace {

// In ticks of the trace's clock; both ends are included.
struct TimeRange {
	std::uint64_t from = 0;
	std::uint64_t to = std::numeric_limits<std::uint64_t>::max();
};

// The cursors of a trace's streams, ordered by their next items. Invariant: times never step back; at equal times the
// stream of lower index comes first.
class MergedCursors {
public:
	// `start(cursor)` moves a cursor to its first item; a cursor that is not started is not read.
	MergedCursors(const Trace &trace, Problems &problems, const std::function<void(Cursor &)> &start);
	MergedCursors(const MergedCursors &) = delete; // events point into the cursors
	MergedCursors &operator=(const MergedCursors &) = delete;

	bool empty() const { return heap_.empty(); }
	Cursor &first() { return cursors_[heap_.first()]; }
	std::uint64_t first_time() const { return heap_.first_time(); }
	// The time of the next cursor's item: up to there the first cursor needs no update().
	std::uint64_t bound() const { return heap_.bound(); }
	// Called when the first cursor has advanced.
	void update();

	// Walks the items up to the time `to`. run(cursor, bound): the next event is this cursor's, as are those after
	// it before `bound`; Cursor::visit_before() visits them. gap(cursor): its gap is next. False ends the walk.
	void walk(std::uint64_t to, const std::function<bool(Cursor &, std::uint64_t bound)> &run,
		  const std::function<bool(const Cursor &)> &gap);

	// Releases the pages that were read.
	void give_back();

private:
	std::vector<Cursor> cursors_; // in the order of the streams
	MergeHeap heap_;              // of indices into cursors_
};

// The callback of walk() for gaps, from the on_gap of the functions below.
template <class OnGap> auto gap_callback(OnGap &on_gap)
{
	return [&on_gap](const Cursor &cursor) {
		const Gap &gap = cursor.gap();
		const auto call = [&] { return on_gap(cursor.stream().info(), gap.from_time, gap.to_time, gap.lost); };
		if constexpr (std::is_same_v<decltype(call()), bool>)
			return call();
		call();
		return true;
	};
}

// Where to start reading a stream in order to know what runs at `time`: for a CPU at the packet before the one that
// contains `time`, as a packet may begin within a switch, whose token is the last one before it. The rings of nested
// probes (level 1 and up) start there, too: their packets may have begun long ago, while another thread ran.
std::uint64_t lead_time(const Trace &trace, const Stream &stream, std::uint64_t time);

// Like merge(), but starts in the middle: each stream starts at its lead_time(), and on_lead(const Event &) gets its
// events before range.from, which show the running threads (threads.h). on_gap(const StreamInfo &, from_time, to_time,
// lost) gets the gaps from there on, too.
template <class OnLead, class OnEvent, class OnGap>
void merge_from(const Trace &trace, TimeRange range, Problems &problems, OnLead &&on_lead, OnEvent &&on_event,
		OnGap &&on_gap)
{
	MergedCursors cursors(trace, problems,
			      [&](Cursor &cursor) { cursor.start(lead_time(trace, cursor.stream(), range.from)); });
	cursors.walk(
	    range.to,
	    [&](Cursor &cursor, std::uint64_t bound) {
		    return cursor.time() < range.from ? cursor.visit_before(std::min(bound, range.from), on_lead)
						      : cursor.visit_before(bound, on_event);
	    },
	    gap_callback(on_gap));
}

// Problems are added to the caller's `problems`: several threads may read one trace.
template <class OnEvent, class OnGap>
void merge(const Trace &trace, Problems &problems, TimeRange range, OnEvent &&on_event, OnGap &&on_gap)
{
	MergedCursors cursors(trace, problems, [&](Cursor &cursor) { cursor.start(range.from); });
	cursors.walk(
	    range.to, [&](Cursor &cursor, std::uint64_t bound) { return cursor.visit_before(bound, on_event); },
	    gap_callback(on_gap));
}

template <class OnEvent, class OnGap> void merge(Trace &trace, TimeRange range, OnEvent &&on_event, OnGap &&on_gap)
{
	merge(std::as_const(trace), trace.problems(), range, std::forward<OnEvent>(on_event),
	      std::forward<OnGap>(on_gap));
}

template <class OnEvent> void merge(Trace &trace, TimeRange range, OnEvent &&on_event)
{
	merge(trace, range, std::forward<OnEvent>(on_event),
	      [](const StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
}

} // namespace monitor::trace
