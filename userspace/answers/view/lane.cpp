// SPDX-License-Identifier: MIT
#include "lane.h"

#include <algorithm>

#include "kept_bytes.h"

namespace monitor::view {

Lane::Lane(std::uint64_t base_ticks, KeptReader &reader)
    : base_ticks_(base_ticks), first_(reader.number<std::uint32_t>()), busy_(reader.number<std::uint64_t>())
{
	for (unsigned level = first_; level < levels; ++level)
		levels_[level] = reader.array<Slice>();
}

void Lane::keep(KeptWriter &writer) const
{
	writer.number(std::uint32_t{first_});
	writer.number(busy_);
	for (unsigned level = first_; level < levels; ++level)
		writer.array(levels_[level]);
}

void Lane::add(std::uint64_t from, std::uint64_t to, std::uint32_t key)
{
	from = std::max(from, to_);
	if (from >= to)
		return;
	busy_ += to - from;
	if (from == to_ && key == key_ && from_ != to_) {
		to_ = to;
		return;
	}
	if (from_ != to_)
		put(first_, from_, to_, key_);
	from_ = from, to_ = to, key_ = key;
}

// A slice as it is, or, if it is shorter than a bin, whole in the bin that its middle is in: it may reach a little
// beyond.
void Lane::put(unsigned level, std::uint64_t from, std::uint64_t to, std::uint32_t key)
{
	const std::uint64_t bin_ticks = width(level), bin = from / bin_ticks;
	if (to - from < bin_ticks)
		return merge(level, (from + (to - from) / 2) / bin_ticks, to - from, to - from, key, 1);
	close(level);
	levels_[level].push_back(
	    {static_cast<std::uint32_t>(bin), static_cast<std::uint32_t>(to / bin_ticks - bin), key, 1, to - from});
	if (level + 1 < levels)
		put(level + 1, from, to, key);
}

void Lane::merge(unsigned level, std::uint64_t bin, std::uint64_t busy, std::uint64_t weight, std::uint32_t key,
		 std::uint32_t count)
{
	Open &open = open_[level];
	if (open.is_open && open.bin != bin)
		close(level);
	if (!open.is_open)
		open = {true, bin, 0, 0, key, 0};
	open.busy += busy;
	open.count += count;
	if (open.key == key) {
		open.weight += weight;
	} else if (open.weight >= weight) {
		open.weight -= weight;
	} else { // the others outnumber it: Boyer and Moore's vote, which needs no table
		open.key = key;
		open.weight = weight - open.weight;
	}
}

void Lane::close(unsigned level)
{
	const Open open = open_[level];
	if (!open.is_open)
		return;
	open_[level].is_open = false;
	levels_[level].push_back({static_cast<std::uint32_t>(open.bin), 1, open.key, open.count, open.busy});
	if (level + 1 < levels)
		merge(level + 1, open.bin / 4, open.busy, open.weight, open.key, open.count);
}

void Lane::finish()
{
	if (from_ != to_)
		put(first_, from_, to_, key_);
	from_ = to_;
	for (unsigned level = first_; level < levels; ++level)
		close(level);
}

void Lane::drop_below(unsigned level)
{
	for (; first_ < level; ++first_) {
		close(first_);                          // to the next level
		levels_[first_] = std::vector<Slice>(); // its memory, too
	}
}

std::span<const Slice> Lane::slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin) const
{
	const std::vector<Slice> &all = levels_[level];
	const auto first = std::ranges::partition_point(
	    all, [from_bin](const Slice &slice) { return std::uint64_t(slice.bin) + slice.bins <= from_bin; });
	const auto end =
	    std::partition_point(first, all.end(), [to_bin](const Slice &slice) { return slice.bin < to_bin; });
	return {first, end};
}

std::size_t Lane::bytes() const
{
	std::size_t bytes = 0;
	for (const std::vector<Slice> &level : levels_)
		bytes += level.capacity() * sizeof(Slice);
	return bytes;
}

} // namespace monitor::view
