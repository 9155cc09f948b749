// SPDX-License-Identifier: MIT
// A position between two items of the merged order of a trace, moved by one item in either direction, or to a time.
//
// One walker per stream (walker.h), and a heap of the walkers' next or previous items, depending on the direction. The
// cursors (cursor.cpp) count events and apply filters on top of it. One thread.
// Invariants: the order is that of trace::merge(): by key, then by stream; the walkers' positions are one cut through
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "walker.h"

namespace poet::detail {

class Walk {
public:
	// At the start.
	Walk(const Core &core, monitor::trace::Problems &problems);

	void to_begin();
	void to_end();
	// Before the first item at or after this time.
	void seek(std::uint64_t time);

	// Moves over the next or the previous item. False: there is none.
	bool step()
	{
		if (way_ != Way::forward)
			turn(Way::forward);
		if (heads_.empty())
			return false;
		Walker &walker = walkers_[heads_.front().walker];
		walker.step();
		update(walker.has_next(), walker);
		return true;
	}
	bool step_back()
	{
		if (way_ != Way::backward)
			turn(Way::backward);
		else if (is_stale_) // only now: reading on may discard the item
			update(walkers_[last_].has_previous(), walkers_[last_]);
		is_stale_ = !heads_.empty();
		if (heads_.empty())
			return false;
		last_ = heads_.front().walker;
		walkers_[last_].step_back();
		return true;
	}
	// Finds the item after the position. False: there is none.
	bool find_next()
	{
		if (way_ != Way::forward)
			turn(Way::forward);
		if (heads_.empty())
			return false;
		last_ = heads_.front().walker;
		return true;
	}

	// After a successful step_back() or find_next(): the item after the position.
	const Window::Item &item() const { return walkers_[last_].next(); }
	const Window::Loss &loss() const { return walkers_[last_].loss(item()); }
	std::uint32_t stream_index() const { return walkers_[last_].stream_index(); }

private:
	enum class Way : std::uint8_t { unknown, forward, backward };
	struct Head {
		std::uint64_t key;
		std::uint32_t walker; // index into walkers_, in the order of the streams
	};

	static constexpr std::size_t all_windows_bytes = 16u << 20;

	bool before(const Head &a, const Head &b) const
	{
		const bool is_less = a.key < b.key || (a.key == b.key && a.walker < b.walker);
		return way_ == Way::forward ? is_less : !is_less;
	}
	void turn(Way way);
	void sift(std::size_t hole);
	// The first head's walker has moved.
	void update(bool has_more, const Walker &walker)
	{
		if (has_more) {
			heads_.front().key = way_ == Way::forward ? walker.next().key : walker.previous().key;
		} else {
			heads_.front() = heads_.back();
			heads_.pop_back();
			if (heads_.empty())
				return;
		}
		sift(0);
	}

	std::vector<Walker> walkers_;
	std::vector<Head> heads_;
	Way way_ = Way::unknown;
	bool is_stale_ = false; // backward: the first head is still the item after the position
	std::uint32_t last_ = 0;
};

} // namespace poet::detail
