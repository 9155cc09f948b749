// SPDX-License-Identifier: MIT
// All events of a trace in time order: the one loop that every analysis runs in.
//
//     merge(trace, {}, [&](const Event &event) { ... });
//     merge(trace, {from, to}, on_event, on_gap);
//
// Each stream is sorted, so a heap with one cursor per stream suffices. The stream with the earliest event is visited
// until it passes the time of the next one: within a burst of one CPU the heap is not touched. on_event(const Event &)
// returns void, or bool: false ends the merge. on_gap(const StreamInfo &, std::uint64_t from_time, std::uint64_t
// to_time, std::uint64_t discarded) gets each loss at the time it begins, and returns the same; `discarded` may be
// unknown_count. Both are inlined: no indirect call and no allocation per event. Runs in the caller's thread.
// Invariant: times never step back; at equal times the stream of lower index comes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "stream.h"
#include "trace.h"

namespace monitor::trace {

// In ticks of the trace's clock; both ends are included.
struct TimeRange {
	std::uint64_t from = 0;
	std::uint64_t to = std::numeric_limits<std::uint64_t>::max();
};

// The order of the merge: a binary heap of the cursors' next items.
class MergeHeap {
public:
	void push(Cursor &cursor)
	{
		if (cursor.item() != Cursor::Item::end)
			heads_.push_back({cursor.time(), &cursor});
	}
	void make()
	{
		for (std::size_t i = heads_.size() / 2; i-- > 0;)
			sift(i);
	}

	bool empty() const { return heads_.empty(); }
	Cursor &first() const { return *heads_.front().cursor; }
	std::uint64_t first_time() const { return heads_.front().time; }

	// The time at which another cursor becomes the first: earlier items of this one need no heap update.
	std::uint64_t bound() const
	{
		if (heads_.size() == 1)
			return std::numeric_limits<std::uint64_t>::max();
		const Head &second = heads_.size() > 2 && before(heads_[2], heads_[1]) ? heads_[2] : heads_[1];
		const bool first_wins_tie = index(heads_.front()) < index(second);
		return second.time + (first_wins_tie && second.time + 1 != 0 ? 1 : 0);
	}

	// Called when the first cursor has advanced.
	void update()
	{
		Head &head = heads_.front();
		if (head.cursor->item() == Cursor::Item::end) {
			head = heads_.back();
			heads_.pop_back();
			if (heads_.empty())
				return;
		} else {
			head.time = head.cursor->time();
		}
		sift(0);
	}

private:
	struct Head {
		std::uint64_t time;
		Cursor *cursor;
	};

	static std::uint32_t index(const Head &head) { return head.cursor->stream().info().index; }
	static bool before(const Head &a, const Head &b)
	{
		return a.time < b.time || (a.time == b.time && index(a) < index(b));
	}

	void sift(std::size_t hole)
	{
		const Head moved = heads_[hole];
		for (std::size_t child; (child = 2 * hole + 1) < heads_.size(); hole = child) {
			if (child + 1 < heads_.size() && before(heads_[child + 1], heads_[child]))
				++child;
			if (before(moved, heads_[child]))
				break;
			heads_[hole] = heads_[child];
		}
		heads_[hole] = moved;
	}

	std::vector<Head> heads_;
};

// Like merge(), but starts in the middle without reading what is before: each stream starts with the packet that
// contains range.from, and on_lead(const Event &) gets its events before range.from, which show the running threads
// (threads.h). on_gap(const StreamInfo &, from_time, to_time, discarded) gets the gaps from there on too.
template <class OnLead, class OnEvent, class OnGap>
void merge_from(const Trace &trace, TimeRange range, Problems &problems, OnLead &&on_lead, OnEvent &&on_event,
		OnGap &&on_gap)
{
	std::vector<Cursor> cursors;
	cursors.reserve(trace.streams().size());
	MergeHeap heap;
	for (const auto &stream : trace.streams()) {
		if (stream->is_foreign())
			continue;
		cursors.emplace_back(*stream, trace.description(), problems, trace.begin_time());
		cursors.back().start(stream->packet_time(range.from));
		heap.push(cursors.back());
	}
	heap.make();
	const std::uint64_t after = range.to + (range.to + 1 != 0 ? 1 : 0);
	for (; !heap.empty() && heap.first_time() <= range.to; heap.update()) {
		Cursor &cursor = heap.first();
		if (cursor.item() != Cursor::Item::event) {
			const Gap &gap = cursor.gap();
			on_gap(cursor.stream().info(), gap.from_time, gap.to_time, gap.discarded);
			cursor.advance();
		} else if (heap.first_time() < range.from) {
			cursor.visit_before(std::min(heap.bound(), range.from), on_lead);
		} else if (!cursor.visit_before(std::min(heap.bound(), after), on_event)) {
			return;
		}
	}
}

// Problems are added to the caller's `problems`: several threads may read one trace.
template <class OnEvent, class OnGap>
void merge(const Trace &trace, Problems &problems, TimeRange range, OnEvent &&on_event, OnGap &&on_gap)
{
	std::vector<Cursor> cursors;
	cursors.reserve(trace.streams().size());
	MergeHeap heap;
	for (const auto &stream : trace.streams()) {
		if (stream->is_foreign())
			continue;
		cursors.emplace_back(*stream, trace.description(), problems, trace.begin_time());
		cursors.back().start(range.from);
		heap.push(cursors.back());
	}
	heap.make();
	const std::uint64_t after = range.to + (range.to + 1 != 0 ? 1 : 0);
	for (; !heap.empty() && heap.first_time() <= range.to; heap.update()) {
		Cursor &cursor = heap.first();
		if (cursor.item() == Cursor::Item::event) {
			if (!cursor.visit_before(std::min(heap.bound(), after), on_event))
				return;
		} else {
			const Gap &gap = cursor.gap();
			const StreamInfo &stream = cursor.stream().info();
			if constexpr (std::is_same_v<decltype(on_gap(stream, std::uint64_t(), std::uint64_t(),
								     std::uint64_t())),
						     bool>) {
				if (!on_gap(stream, gap.from_time, gap.to_time, gap.discarded))
					return;
			} else {
				on_gap(stream, gap.from_time, gap.to_time, gap.discarded);
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
