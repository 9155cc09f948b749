// SPDX-License-Identifier: MIT
// A lane of a picture at several levels of detail: who had it, and when. The bins of each level are four times as wide
// as those of the level before. A level keeps a slice that is at least one bin wide as it is. It merges the shorter
// slices of a bin into one, with the key that had most of the time, the busy ticks, and the number of slices. So a
// window of N bins has about N slices at any level, and a picture needs about one slice per pixel. Filled by
// timeline.cpp in the order of time; read by tile.cpp.
// Invariant: the busy ticks of every level sum up to those that were added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

class Lane {
public:
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
	std::span<const Slice> slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin) const;
	std::span<const Slice> slices(unsigned level) const { return levels_[level]; }
	std::uint64_t busy() const { return busy_; }
	std::size_t bytes() const;

private:
	// A bin that more may be added to. `weight`: by how much the ticks of `key` outnumber those of all others.
	struct Open {
		bool is_open = false;
		std::uint64_t bin = 0, busy = 0, weight = 0;
		std::uint32_t key = 0, count = 0;
	};

	void put(unsigned level, std::uint64_t from, std::uint64_t to, std::uint32_t key);
	void merge(unsigned level, std::uint64_t bin, std::uint64_t busy, std::uint64_t weight, std::uint32_t key,
		   std::uint32_t count);
	void close(unsigned level);
	std::uint64_t width(unsigned level) const { return base_ticks_ << (2 * level); }

	std::uint64_t base_ticks_;
	unsigned first_ = 0;
	std::uint64_t from_ = 0, to_ = 0, busy_ = 0; // what is added next may continue this
	std::uint32_t key_ = 0;
	std::array<std::vector<Slice>, levels> levels_;
	std::array<Open, levels> open_{};
};

} // namespace monitor::view
