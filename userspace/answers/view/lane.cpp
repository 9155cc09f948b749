// SPDX-License-Identifier: MIT
#include "lane.h"

#include <algorithm>
#include <utility>

#include "picture_bytes.h"

namespace monitor::view {

Lane::Lane(std::uint64_t base_ticks, CacheReader &reader)
    : base_ticks_(base_ticks), first_(reader.number<std::uint32_t>()), busy_(reader.number<std::uint64_t>()),
      few_(reader.array<Interval>())
{
	if (reader.number<std::uint8_t>() == 0)
		return;
	many_ = std::make_unique<Levels>(Levels{base_ticks, first_});
	for (unsigned level = first_; level < levels; ++level)
		many_->slices[level] = reader.array<Slice>();
}

void Lane::save(CacheWriter &writer) const
{
	writer.number(std::uint32_t{first_});
	writer.number(busy_);
	writer.array(few_);
	writer.number(static_cast<std::uint8_t>(many_ != nullptr));
	for (unsigned level = first_; many_ && level < levels; ++level)
		writer.array(many_->slices[level]);
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
	add_last();
	from_ = from, to_ = to, key_ = key;
}

void Lane::add_last()
{
	if (from_ == to_)
		return;
	const Interval last = {from_, to_, key_};
	if (!many_ && few_.size() < max_few) {
		few_.push_back(last);
		return;
	}
	if (!many_) {
		many_ = std::make_unique<Levels>(Levels{base_ticks_, first_});
		for (const Interval &interval : std::exchange(few_, {}))
			many_->add(interval);
	}
	many_->add(last);
}

// Adds a slice unchanged or, if it is shorter than a bin, to the bin of its middle, although it may extend beyond.
void Lane::Levels::add_at(unsigned level, std::uint64_t from, std::uint64_t to, std::uint32_t key)
{
	const std::uint64_t bin_ticks = width(level), bin = from / bin_ticks;
	if (to - from < bin_ticks)
		return merge(level, (from + (to - from) / 2) / bin_ticks, to - from, to - from, key, 1);
	close(level);
	slices[level].push_back(
	    {static_cast<std::uint32_t>(bin), static_cast<std::uint32_t>(to / bin_ticks - bin), key, 1, to - from});
	if (level + 1 < end)
		add_at(level + 1, from, to, key);
}

void Lane::Levels::merge(unsigned level, std::uint64_t bin, std::uint64_t busy, std::uint64_t weight, std::uint32_t key,
			 std::uint32_t count)
{
	OpenBin &open = open_bins[level];
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
	} else { // majority vote (Boyer and Moore), without a table
		open.key = key;
		open.weight = weight - open.weight;
	}
}

void Lane::Levels::close(unsigned level)
{
	const OpenBin open = open_bins[level];
	if (!open.is_open)
		return;
	open_bins[level].is_open = false;
	slices[level].push_back({static_cast<std::uint32_t>(open.bin), 1, open.key, open.count, open.busy});
	if (level + 1 < end)
		merge(level + 1, open.bin / 4, open.busy, open.weight, open.key, open.count);
}

void Lane::Levels::finish()
{
	for (unsigned level = first; level < end; ++level)
		close(level);
}

void Lane::Levels::drop_below(unsigned level)
{
	for (; first < level; ++first) {
		close(first);                         // to the next level
		slices[first] = std::vector<Slice>(); // frees the memory, too
	}
}

void Lane::finish()
{
	add_last();
	from_ = to_;
	few_.shrink_to_fit();
	if (many_)
		many_->finish();
}

void Lane::drop_below(unsigned level)
{
	first_ = std::max(first_, level);
	if (many_)
		many_->drop_below(level);
}

std::vector<Slice> Lane::slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin) const
{
	Levels one{base_ticks_, level, level + 1};
	for (const Interval &interval : few_)
		one.add(interval);
	one.finish();
	const std::vector<Slice> &all = many_ ? many_->slices[level] : one.slices[level];
	const auto first = std::ranges::partition_point(
	    all, [from_bin](const Slice &slice) { return std::uint64_t(slice.bin) + slice.bins <= from_bin; });
	const auto end =
	    std::partition_point(first, all.end(), [to_bin](const Slice &slice) { return slice.bin < to_bin; });
	return {first, end};
}

std::size_t Lane::bytes() const
{
	std::size_t bytes = 0;
	if (many_)
		for (const std::vector<Slice> &level : many_->slices)
			bytes += level.capacity() * sizeof(Slice);
	return bytes;
}

} // namespace monitor::view
