// SPDX-License-Identifier: MIT
#include "machine_clock.h"

#include <algorithm>

namespace monitor::trace {
namespace {

void count(MachineClock::Range &range, ClockBoundNs bound)
{
	if (!bound) {
		++range.unknown;
		return;
	}
	range.min = range.known ? std::min(range.min, *bound) : *bound;
	range.max = std::max(range.max, *bound);
	++range.known;
}

// Bound number i is of the times between node i - 1 and node i.
void count_lines(MachineClock::Range &range, const ClockMap &map, std::uint64_t from, std::uint64_t to)
{
	const auto ns = [&](std::size_t node) { return static_cast<std::uint64_t>(map.nodes()[node].ns); };
	for (std::size_t i = 0; i < map.bounds().size(); ++i)
		if ((i == 0 || ns(i - 1) < to) && (i == map.nodes().size() || ns(i) > from))
			count(range, map.bounds()[i]);
}

} // namespace

void MachineClock::add(ClockBoundNs bound)
{
	is_known_ = is_known_ && bound;
	max_ns_ = std::max(max_ns_, bound.value_or(0));
}

ClockBoundNs MachineClock::bound_at(std::uint64_t time) const
{
	ClockBoundNs most;
	if (is_known_)
		most = max_ns_;
	for (const auto &map : maps_) {
		const ClockBoundNs bound = map->bound_at(time);
		if (!most || !bound)
			return std::nullopt;
		most = std::max(*most, *bound);
	}
	return most;
}

MachineClock::Range MachineClock::range(std::uint64_t from, std::uint64_t to) const
{
	Range range;
	if (!is_known_ || max_ns_ > 0 || maps_.empty())
		count(range, is_known_ ? ClockBoundNs(max_ns_) : std::nullopt);
	for (const auto &map : maps_)
		count_lines(range, *map, from, to);
	return range;
}

} // namespace monitor::trace
