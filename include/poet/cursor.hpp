// SPDX-License-Identifier: MIT
// A position among the events of a trace; moves forward and backward, by steps, by index and by time.
//
//     poet::Cursor cursor(trace);
//     while (cursor.next() != poet::Item::none)
//             if (cursor.item() == poet::Item::event) use(cursor.event());
//
// The events of all streams are in one order: by time, then by stream. An event's index is its position in that order,
// starting at 0. A gap is where the loss began and has no index. previous() returns exactly what next() returned, in
// reverse. A seek by time bisects packet headers and reads a few packets. A move by index, or position() after a seek,
// reads the whole trace once to build a sparse index, which all cursors of the trace share. A cursor's memory does not
// grow with the trace. To read all events from first to last, visit() (visit.hpp) is faster.
// Only one thread may use a Cursor at a time; several cursors of one trace may be used at once.
#pragma once

#include <cstdint>
#include <memory>

#include "event.hpp"
#include "filter.hpp"

namespace poet {

enum class Item : std::uint8_t {
	none, // before the first item or after the last
	event,
	gap,
};

class POET_API Cursor {
public:
	// Starts before the first item.
	explicit Cursor(const Trace &trace);
	~Cursor();
	Cursor(Cursor &&other) noexcept;
	Cursor &operator=(Cursor &&other) noexcept;

	// Whether gaps are items (the default) or are skipped.
	void show_gaps(bool shown);

	// All moves return the kind of item that the cursor is on afterwards: none if it left the trace.
	Item next();
	Item previous();
	// To the next or the previous event that passes the filter; a gap on the way ends the move if gaps are shown.
	// Throws Error if the filter uses `tid` or `thread`.
	Item next(const Filter &filter);
	Item previous(const Filter &filter);
	// By this many events, not counting gaps; 0 does not move. From a gap, 1 is the event after it and -1 the one
	// before.
	Item move(std::int64_t events);
	// To the event with this index; if there is no such event, none, after the last item.
	Item move_to(std::uint64_t index);
	// To the first item at or after this time: in ticks, nanoseconds since the start of the trace, or since 1970.
	Item seek(std::uint64_t time);
	Item seek_ns(std::int64_t since_begin_ns);
	Item seek_wall_ns(std::int64_t wall_ns);
	// Before the first item, or after the last: next() or previous() follows.
	void to_begin();
	void to_end();

	Item item() const;
	// The event or the gap that the cursor is on. Valid until the cursor moves.
	const Event &event() const;
	const Gap &gap() const;
	// Of the event, or of the gap's start, in ticks.
	std::uint64_t time() const;
	// The number of events before the cursor's item: the index of its event.
	std::uint64_t position();

private:
	class Body;
	std::unique_ptr<Body> body_;
};

} // namespace poet
