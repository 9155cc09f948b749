// SPDX-License-Identifier: MIT
// All events of a trace in time order, one at a time on request: the pull form of merge() (merge.h).
//
//     Pull pull(trace, {from, to}, [](const Stream &stream) { return true; });
//     for (auto item = pull.next(); item != Cursor::Item::end; item = pull.next())
//
// For callers that cannot use a callback: the tables of a query (answers/query). Same heap, same order. Each Pull has
// separate cursors, so several may run on one trace. One thread uses it.
// Invariants: times never step back; at equal times the stream of lower index comes first; event() and gap() are valid
// until the next call of next().
#pragma once

#include <algorithm>
#include <cstdint>

#include "merge.h"

namespace monitor::trace {

class Pull {
public:
	// Streams that `wants` rejects are not read at all.
	template <class Wants>
	Pull(Trace &trace, TimeRange range, Wants &&wants)
	    : range_(range), cursors_(trace, trace.problems(), [&](Cursor &cursor) {
		      if (wants(cursor.stream()))
			      start(cursor);
	      })
	{
	}

	Cursor::Item next()
	{
		if (cursor_) {
			if (cursor_->advance() == Cursor::Item::event && cursor_->time() < bound_) [[likely]]
				return Cursor::Item::event;
			cursors_.update();
		}
		return next_stream();
	}

	const Event &event() const { return cursor_->event(); }
	// Time of the event or the gap.
	std::uint64_t time() const { return cursor_->time(); }
	const Gap &gap() const { return cursor_->gap(); }
	const StreamInfo &stream() const { return cursor_->stream().info(); }
	// The cursor of the current item.
	const Cursor &cursor() const { return *cursor_; }

private:
	// Bisection requires that packets have times.
	void start(Cursor &cursor) const
	{
		if (range_.from == 0 || cursor.stream().has_packet_times() || cursor.stream().is_missing()) {
			cursor.start(range_.from);
			return;
		}
		for (cursor.start(0); cursor.item() != Cursor::Item::end && cursor.time() < range_.from;)
			cursor.advance();
	}

	Cursor::Item next_stream()
	{
		cursor_ = nullptr;
		if (cursors_.empty() || cursors_.first_time() > range_.to)
			return Cursor::Item::end;
		cursor_ = &cursors_.first();
		bound_ = std::min(cursors_.bound(), range_.to + (range_.to + 1 != 0 ? 1 : 0));
		return cursor_->item();
	}

	TimeRange range_;
	MergedCursors cursors_;
	Cursor *cursor_ = nullptr; // the one with the current item
	std::uint64_t bound_ = 0;  // the cursor's events before this time come before all others'
};

} // namespace monitor::trace
