// SPDX-License-Identifier: MIT
// All events of a trace in time order: the one loop that every analysis runs in.
//
//     merge(trace, {}, [&](const Event &event) { ... });
//     merge(trace, {from, to}, on_event, on_gap);
//
// Each stream is sorted, so a heap (base/merge_heap.h) with one cursor per stream suffices. The stream with the
// earliest event is visited until it passes the time of the next one: within a burst of one CPU the heap is not
// touched. on_event(const Event &) returns void, or bool: false ends the merge. on_gap(const StreamInfo &,
// std::uint64_t from_time, std::uint64_t to_time, std::uint64_t lost) gets each loss at the time it begins, and
// returns the same; `lost` may be unknown_count. Both are inlined: no indirect call and no allocation per event.
// Runs in the caller's thread. Invariant: times never step back; at equal times the stream of lower index comes first.
#pragma once

#include <algorithm>
#include <cstdint>
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

// The cursors of a trace's streams, and which of them has the earliest item. Invariant: times never step back; at equal
// times the stream of lower index comes first.
class MergedCursors {
public:
	// `start(cursor)` moves a cursor to its first item; one that it does not start is not read.
	template <class Start> MergedCursors(const Trace &trace, Problems &problems, Start &&start)
	{
		cursors_.reserve(trace.streams().size());
		for (const auto &stream : trace.streams()) {
			if (stream->is_foreign())
				continue;
			cursors_.emplace_back(*stream, trace.description(), problems, trace.begin_time());
			start(cursors_.back());
			if (cursors_.back().item() != Cursor::Item::end)
				heap_.add(cursors_.back().time(), static_cast<std::uint32_t>(cursors_.size() - 1));
		}
		heap_.make();
	}
	MergedCursors(const MergedCursors &) = delete; // events point into the cursors
	MergedCursors &operator=(const MergedCursors &) = delete;

	bool empty() const { return heap_.empty(); }
	Cursor &first() { return cursors_[heap_.first()]; }
	std::uint64_t first_time() const { return heap_.first_time(); }
	// The time at which another cursor becomes the first: earlier items of this one need no update.
	std::uint64_t bound() const { return heap_.bound(); }
	// Called when the first cursor has advanced.
	void update()
	{
		const Cursor &cursor = first();
		if (cursor.item() == Cursor::Item::end)
			heap_.remove();
		else
			heap_.update(cursor.time());
	}

	// The pages that were read are no longer needed.
	void give_back()
	{
		for (Cursor &cursor : cursors_)
			cursor.give_back();
	}

private:
	std::vector<Cursor> cursors_; // in the order of the streams
	MergeHeap heap_;              // of indices into cursors_
};

// Like merge(), but starts in the middle without reading what is before: each stream starts with the packet that
// contains range.from, and on_lead(const Event &) gets its events before range.from, which show the running threads
// (threads.h). on_gap(const StreamInfo &, from_time, to_time, lost) gets the gaps from there on, too.
template <class OnLead, class OnEvent, class OnGap>
void merge_from(const Trace &trace, TimeRange range, Problems &problems, OnLead &&on_lead, OnEvent &&on_event,
		OnGap &&on_gap)
{
	MergedCursors cursors(trace, problems,
			      [&](Cursor &cursor) { cursor.start(cursor.stream().packet_time(range.from)); });
	const std::uint64_t after = range.to + (range.to + 1 != 0 ? 1 : 0);
	for (; !cursors.empty() && cursors.first_time() <= range.to; cursors.update()) {
		Cursor &cursor = cursors.first();
		if (cursor.item() != Cursor::Item::event) {
			const Gap &gap = cursor.gap();
			on_gap(cursor.stream().info(), gap.from_time, gap.to_time, gap.lost);
			cursor.advance();
		} else if (cursors.first_time() < range.from) {
			cursor.visit_before(std::min(cursors.bound(), range.from), on_lead);
		} else if (!cursor.visit_before(std::min(cursors.bound(), after), on_event)) {
			return;
		}
	}
}

// Problems are added to the caller's `problems`: several threads may read one trace.
template <class OnEvent, class OnGap>
void merge(const Trace &trace, Problems &problems, TimeRange range, OnEvent &&on_event, OnGap &&on_gap)
{
	MergedCursors cursors(trace, problems, [&](Cursor &cursor) { cursor.start(range.from); });
	const std::uint64_t after = range.to + (range.to + 1 != 0 ? 1 : 0);
	for (; !cursors.empty() && cursors.first_time() <= range.to; cursors.update()) {
		Cursor &cursor = cursors.first();
		if (cursor.item() == Cursor::Item::event) {
			if (!cursor.visit_before(std::min(cursors.bound(), after), on_event))
				return;
		} else {
			const Gap &gap = cursor.gap();
			const StreamInfo &stream = cursor.stream().info();
			if constexpr (std::is_same_v<decltype(on_gap(stream, std::uint64_t(), std::uint64_t(),
								     std::uint64_t())),
						     bool>) {
				if (!on_gap(stream, gap.from_time, gap.to_time, gap.lost))
					return;
			} else {
				on_gap(stream, gap.from_time, gap.to_time, gap.lost);
			}
			cursor.advance();
		}
	}
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
