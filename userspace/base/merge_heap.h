// SPDX-License-Identifier: MIT
// Merges sorted sources: a binary heap of the times of their next items.
//
// A source is known by its number only; its owner reads it and reports the time of its next item. One thread.
// Invariant: first() is the source with the lowest time, and at equal times the one with the lowest number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace monitor {

class MergeHeap {
public:
	void clear() { heads_.clear(); }
	// All sources that have items are added, then make() is called.
	void add(std::uint64_t time, std::uint32_t source) { heads_.push_back({time, source}); }
	void make()
	{
		for (std::size_t i = heads_.size() / 2; i-- > 0;)
			sift(i);
	}

	bool empty() const { return heads_.empty(); }
	std::uint32_t first() const { return heads_.front().source; }
	std::uint64_t first_time() const { return heads_.front().time; }

	// The time at which another source becomes the first: earlier items of this one need no update.
	std::uint64_t bound() const
	{
		if (heads_.size() == 1)
			return std::numeric_limits<std::uint64_t>::max();
		const Head &second = heads_.size() > 2 && before(heads_[2], heads_[1]) ? heads_[2] : heads_[1];
		const bool first_wins_tie = heads_.front().source < second.source;
		return second.time + (first_wins_tie && second.time + 1 != 0 ? 1 : 0);
	}

	// The next item of the first source has this time.
	void update(std::uint64_t time)
	{
		heads_.front().time = time;
		sift(0);
	}
	// The first source has no more items.
	void remove()
	{
		heads_.front() = heads_.back();
		heads_.pop_back();
		if (!heads_.empty())
			sift(0);
	}

private:
	struct Head {
		std::uint64_t time;
		std::uint32_t source;
	};

	static bool before(const Head &a, const Head &b)
	{
		return a.time < b.time || (a.time == b.time && a.source < b.source);
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

} // namespace monitor
