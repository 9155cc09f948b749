// SPDX-License-Identifier: MIT
#include "machine_clock.h"

#include <algorithm>

namespace monitor::trace {
namespace {

void count_bound(MachineClock::Range &range, ClockBoundNs bound)
{
	if (!bound) {
		++range.unknown;
		return;
	}
	range.min = range.known ? std::min(range.min, *bound) : *bound;
	range.max = std::max(range.max, *bound);
	++range.known;
}

// Counts the bounds of the lines that apply to these times. Bound i is for the line between nodes i - 1 and i; the
// first and the last one apply before and after all nodes.
void count_bounds(MachineClock::Range &range, const ClockMap &map, std::uint64_t from, std::uint64_t to)
{
	const auto ns = [&](std::size_t node) { return static_cast<std::uint64_t>(map.nodes()[node].ns); };
	for (std::size_t i = 0; i < map.bounds().size(); ++i)
		if ((i == 0 || ns(i - 1) < to) && (i == map.nodes().size() || ns(i) > from))
			count_bound(range, map.bounds()[i]);
}

} // namespace

void MachineClock::add(ClockBoundNs bound)
{
	is_known_ = is_known_ && bound;
	max_ns_ = std::max(max_ns_, bound.value_or(0));
}

ClockBoundNs MachineClock::bound_at(std::uint64_t time) const
{
	ClockBoundNs max_bound;
	if (is_known_)
		max_bound = max_ns_;
	for (const auto &map : maps_) {
		const ClockBoundNs bound = map->bound_at(time);
		if (!max_bound || !bound)
			return std::nullopt;
		max_bound = std::max(*max_bound, *bound);
	}
	return max_bound;
}

MachineClock::Range MachineClock::range(std::uint64_t from, std::uint64_t to) const
{
	Range range;
	if (!is_known_ || max_ns_ > 0 || maps_.empty())
		count_bound(range, is_known_ ? ClockBoundNs(max_ns_) : std::nullopt);
	for (const auto &map : maps_)
		count_bounds(range, *map, from, to);
	return range;
}

} // namespace monitor::trace
