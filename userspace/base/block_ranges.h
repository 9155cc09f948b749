// SPDX-License-Identifier: MIT
// A set of a stream's block numbers, as ranges; blocks may be added in any order.
//
// Used for the parts of a trace that a collector, or this host, has stored (fetched_trace.h). Invariant: ranges are
// nonempty, disjoint, not adjacent and sorted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "ranges.h"

namespace monitor {

class BlockRanges {
public:
	using Range = std::pair<std::uint64_t, std::uint64_t>; // first, end

	void add(std::uint64_t first, std::uint64_t count)
	{
		if (count == 0)
			return;
		std::uint64_t end = first + count;
		auto next = ranges_.upper_bound(first);
		if (next != ranges_.begin() && std::prev(next)->second >= first) {
			--next;
			first = next->first;
		}
		while (next != ranges_.end() && next->first <= end) {
			end = std::max(end, next->second);
			next = ranges_.erase(next);
		}
		ranges_[first] = end;
	}
	// All blocks before the returned number are in the set.
	std::uint64_t prefix() const
	{
		return ranges_.empty() || ranges_.begin()->first != 0 ? 0 : ranges_.begin()->second;
	}
	void set_prefix(std::uint64_t blocks) { add(0, blocks); }

	bool has(const Range &range) const { return !missing(range); }
	// The first part of `range` that is not in the set.
	std::optional<Range> missing(const Range &range) const
	{
		std::uint64_t first = range.first;
		auto next = ranges_.upper_bound(first);
		if (next != ranges_.begin() && std::prev(next)->second > first)
			first = std::prev(next)->second;
		const std::uint64_t end = next == ranges_.end() ? range.second : std::min(range.second, next->first);
		if (first >= end)
			return {};
		return Range(first, end);
	}
	std::uint64_t count() const
	{
		return sum_of_all<std::uint64_t>(ranges_, [](const auto &each) { return each.second - each.first; });
	}
	const std::map<std::uint64_t, std::uint64_t> &ranges() const { return ranges_; }

private:
	std::map<std::uint64_t, std::uint64_t> ranges_;
};

} // namespace monitor
