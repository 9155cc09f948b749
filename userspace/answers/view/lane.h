// SPDX-License-Identifier: MIT
// A lane of a picture at several levels of detail: who had it, and when. The bins of each level are four times as wide
// as those of the level before. A level keeps a slice that is at least one bin wide as it is. It merges the shorter
// slices of a bin into one, with the key that had most of the time, the busy ticks, and the number of slices. So a
// window of N bins has about N slices at any level, and a picture needs about one slice per pixel. Most threads of a
// build run a few times: as long as a lane has no more than max_few slices it keeps these alone, and makes the level
// that is asked for of them. Filled by timeline.cpp in the order of time; read by tile.cpp.
// Invariant: the busy ticks of every level sum up to those that were added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"

namespace monitor::view {

class KeptReader;
class KeptWriter;

struct Slice {
	std::uint32_t bin = 0, bins = 0; // of its level, since the start
	std::uint32_t key = 0;           // whose it is, or whose most of it is
	std::uint32_t count = 0;         // how many: 1 is exact
	std::uint64_t busy = 0;          // ticks
};

constexpr unsigned levels = 16;

// What is asked for takes more memory than there is for it; a coarser level may do.
struct TooMuch : Error {
	TooMuch() : Error("this is too much at once: ask for a part of it") {}
};

class Lane {
public:
	static constexpr std::size_t max_few = 16;

	// `base_ticks`: a bin of level 0. The times of add() are ticks since the start of the picture.
	explicit Lane(std::uint64_t base_ticks) : base_ticks_(base_ticks) {}
	// As it was kept, after finish().
	Lane(std::uint64_t base_ticks, KeptReader &reader);
	void keep(KeptWriter &writer) const;

	// Times are not before those added before; where they are, the lane keeps what it had.
	void add(std::uint64_t from, std::uint64_t to, std::uint32_t key);
	// Nothing is added any more.
	void finish();
	// Levels below this one are not kept: at once, or when there is more than memory for it.
	void drop_below(unsigned level);

	// Those that reach into these bins.
	std::vector<Slice> slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin) const;
	std::vector<Slice> slices(unsigned level) const { return slices(level, 0, ~std::uint64_t(0)); }
	// Each key becomes to(key).
	template <class To> void change_keys(const To &to)
	{
		for (Interval &interval : few_)
			interval.key = to(interval.key);
		if (many_)
			for (std::vector<Slice> &level : many_->slices)
				for (Slice &slice : level)
					slice.key = to(slice.key);
	}
	std::uint64_t busy() const { return busy_; }
	// What the levels take: dropping the finest ones makes it less.
	std::size_t bytes() const;

private:
	struct Interval {
		std::uint64_t from, to;
		std::uint32_t key;
	};
	// A bin that more may be added to. `weight`: by how much the ticks of `key` outnumber those of all others.
	struct Open {
		bool is_open = false;
		std::uint64_t bin = 0, busy = 0, weight = 0;
		std::uint32_t key = 0, count = 0;
	};
	// From level `first` to before `end`.
	struct Levels {
		std::uint64_t base_ticks;
		unsigned first, end = levels;
		std::array<std::vector<Slice>, levels> slices = {};
		std::array<Open, levels> open_bins = {};

		void add(const Interval &interval) { put(first, interval.from, interval.to, interval.key); }
		void put(unsigned level, std::uint64_t from, std::uint64_t to, std::uint32_t key);
		void merge(unsigned level, std::uint64_t bin, std::uint64_t busy, std::uint64_t weight,
			   std::uint32_t key, std::uint32_t count);
		void close(unsigned level);
		void finish();
		void drop_below(unsigned level);
		std::uint64_t width(unsigned level) const { return base_ticks << (2 * level); }
	};

	void add_last();

	std::uint64_t base_ticks_;
	unsigned first_ = 0;
	std::uint32_t key_ = 0;
	std::uint64_t from_ = 0, to_ = 0, busy_ = 0; // what is added next may continue this
	std::vector<Interval> few_;
	std::unique_ptr<Levels> many_; // instead of them
};

} // namespace monitor::view
