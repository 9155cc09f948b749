// SPDX-License-Identifier: MIT
// A place among the events of a trace, moved forward and backward, by steps, by index and by time.
//
//     poet::Cursor cursor(trace);
//     while (cursor.next() != poet::Item::none)
//             if (cursor.item() == poet::Item::event) use(cursor.event());
//
// The events of all streams stand in one order: by time, then by stream. An event's index is its place in that order,
// from 0 on. A gap stands where the loss began and has no index. previous() gives exactly what next() gave, in reverse.
// A seek by time reads headers of packets by bisection and a few packets; a move by index, and position() behind a
// seek, read the whole trace once in its life to make a sparse index, which all its cursors share. A cursor's memory
// does not grow with the trace. For all events from first to last visit() (visit.hpp) is faster.
// One thread uses a Cursor at a time; several of one trace may be used at once.
#pragma once

#include <cstdint>
#include <memory>

#include "event.hpp"
#include "filter.hpp"

namespace poet {

enum class Item : std::uint8_t {
	none, // before the first or behind the last
	event,
	gap,
};

class POET_API Cursor {
public:
	// Stands before the first item.
	explicit Cursor(const Trace &trace);
	~Cursor();
	Cursor(Cursor &&other) noexcept;
	Cursor &operator=(Cursor &&other) noexcept;

	// Whether gaps are items of their own, as they are at first, or are passed over.
	void show_gaps(bool shown);

	// Each of these moves returns what the cursor stands on then: none if it left the trace.
	Item next();
	Item previous();
	// To the next, or the last one before, that passes the filter; a gap on the way ends the move if gaps are
	// shown. Throws Error if the filter asks who runs.
	Item next(const Filter &filter);
	Item previous(const Filter &filter);
	// By so many events, gaps not counted; 0 stays. From a gap, 1 is the event behind it and -1 the one before it.
	Item move(std::int64_t events);
	// To the event of this index; none, behind the last, if there is no such event.
	Item move_to(std::uint64_t index);
	// To the first item at or after this time, in ticks; nanoseconds since the trace's begin, or since 1970.
	Item seek(std::uint64_t time);
	Item seek_ns(std::int64_t since_begin_ns);
	Item seek_wall_ns(std::int64_t wall_ns);
	// Before the first item, behind the last: next() and previous() come next.
	void to_begin();
	void to_end();

	Item item() const;
	// What it stands on: of an event, or of a gap. Valid until the cursor moves.
	const Event &event() const;
	const Gap &gap() const;
	// Of the event or the gap's begin, in ticks.
	std::uint64_t time() const;
	// How many events stand before the cursor's item: the index of its event.
	std::uint64_t position();

private:
	class Body;
	std::unique_ptr<Body> body_;
};

} // namespace poet
