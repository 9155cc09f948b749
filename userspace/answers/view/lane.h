// SPDX-License-Identifier: MIT
// A lane of a picture at several levels of detail: its slices over time, each with a key, such as the thread on a CPU.
// The bins of each level are four times as wide as those of the level before. A level keeps slices of at least one bin
// unchanged, and merges the shorter slices of a bin into one, with the key that had most of the time, the busy ticks,
// and the number of slices. So a window of N bins has about N slices at any level, and a picture needs about one slice
// per pixel. Most threads of a build run a few times: a lane with at most max_few slices keeps only these, and computes
// levels on demand. Filled by timeline.cpp in the order of time; read by tile.cpp. Invariant: the busy ticks of every
// level add up to those that were added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"

namespace monitor::view {

class CacheReader;
class CacheWriter;

struct Slice {
	std::uint32_t bin = 0, bins = 0; // of its level, from the start
	std::uint32_t key = 0;           // owner, or the owner of most of it
	std::uint32_t count = 0;         // number of merged slices; 1: exact
	std::uint64_t busy = 0;          // ticks
};

constexpr unsigned levels = 16;

// The request exceeds the memory limit; a coarser level may not.
struct TooMuch : Error {
	TooMuch() : Error("this is too much at once: ask for a part of it") {}
};

class Lane {
public:
	static constexpr std::size_t max_few = 16;

	// `base_ticks`: width of a bin of level 0. The times of add() are ticks since the start of the picture.
	explicit Lane(std::uint64_t base_ticks) : base_ticks_(base_ticks) {}
	// From the cache, after finish().
	Lane(std::uint64_t base_ticks, CacheReader &reader);
	void save(CacheWriter &writer) const;

	// Times must not decrease; otherwise the lane ignores them.
	void add(std::uint64_t from, std::uint64_t to, std::uint32_t key);
	// No more slices are added.
	void finish();
	// Drops levels below this one: at once, or when memory is exceeded.
	void drop_below(unsigned level);

	// The slices that overlap these bins.
	std::vector<Slice> slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin) const;
	std::vector<Slice> slices(unsigned level) const { return slices(level, 0, ~std::uint64_t(0)); }
	std::uint64_t busy() const { return busy_; }
	// The memory of the levels, which dropping the finest ones reduces.
	std::size_t bytes() const;

private:
	struct Interval {
		std::uint64_t from, to;
		std::uint32_t key;
	};
	// A bin that is still being filled. `weight`: the ticks of `key` minus those of all others.
	struct OpenBin {
		bool is_open = false;
		std::uint64_t bin = 0, busy = 0, weight = 0;
		std::uint32_t key = 0, count = 0;
	};
	// Levels from `first` to before `end`.
	struct Levels {
		std::uint64_t base_ticks;
		unsigned first, end = levels;
		std::array<std::vector<Slice>, levels> slices = {};
		std::array<OpenBin, levels> open_bins = {};

		void add(const Interval &interval) { add_at(first, interval.from, interval.to, interval.key); }
		void add_at(unsigned level, std::uint64_t from, std::uint64_t to, std::uint32_t key);
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
	std::uint64_t from_ = 0, to_ = 0, busy_ = 0; // the last slice, which the next one may continue
	std::vector<Interval> few_;
	std::unique_ptr<Levels> many_; // replaces them
};

} // namespace monitor::view
