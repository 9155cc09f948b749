// SPDX-License-Identifier: MIT
// A position between two items of the merged order of a trace, moved by one item in either direction, or to a time.
//
// One walker per stream (walker.h), and a heap (base/merge_heap.h) of the walkers' next or previous items, depending on
// the direction. The cursors (cursor.cpp) count events and apply filters on top of it. One thread.
// Invariants: the order is that of trace::merge(): by key, then by stream; the walkers' positions are one cut through
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/merge_heap.h"
#include "walker.h"

namespace poet::detail {

class Walk {
public:
	// Positioned at the start.
	Walk(const Core &core, monitor::trace::Problems &problems);

	void to_begin();
	void to_end();
	// Moves before the first item at or after this time.
	void seek(std::uint64_t time);

	// Moves over the next or the previous item. False: there is none.
	bool step()
	{
		if (direction_ != Direction::forward)
			turn(Direction::forward);
		if (heads_.empty())
			return false;
		Walker &walker = walkers_[heads_.first()];
		walker.step();
		if (walker.has_next())
			heads_.update(walker.next().key);
		else
			heads_.remove();
		return true;
	}
	bool step_back()
	{
		if (direction_ != Direction::backward)
			turn(Direction::backward);
		else if (is_stale_) // only now: reading on may discard the item
			update_backward();
		is_stale_ = !heads_.empty();
		if (heads_.empty())
			return false;
		last_ = ~heads_.first();
		walkers_[last_].step_back();
		return true;
	}
	// Finds the item after the position. False: there is none.
	bool find_next()
	{
		if (direction_ != Direction::forward)
			turn(Direction::forward);
		if (heads_.empty())
			return false;
		last_ = heads_.first();
		return true;
	}

	// After a successful step_back() or find_next(): the item after the position.
	const Window::Item &item() const { return walkers_[last_].next(); }
	const Window::Loss &loss() const { return walkers_[last_].loss(item()); }
	std::uint32_t stream_index() const { return walkers_[last_].stream_index(); }

private:
	enum class Direction : std::uint8_t { unknown, forward, backward };

	static constexpr std::size_t all_windows_bytes = 16u << 20;

	void turn(Direction direction);
	// The last walker has moved.
	void update_backward()
	{
		if (walkers_[last_].has_previous())
			heads_.update(~walkers_[last_].previous().key);
		else
			heads_.remove();
	}

	std::vector<Walker> walkers_; // in the order of the streams
	// Of indices into walkers_. Backward, of complements of times and indices: the last item in order is the head.
	monitor::MergeHeap heads_;
	Direction direction_ = Direction::unknown;
	bool is_stale_ = false; // backward: the head is still the item after the position
	std::uint32_t last_ = 0;
};

} // namespace poet::detail
