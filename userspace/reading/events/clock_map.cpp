// SPDX-License-Identifier: MIT
#include "clock_map.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "reading/ctf/clock.h"

namespace monitor::trace {
namespace {

using Wide = unsigned __int128;

constexpr std::uint64_t latest = std::numeric_limits<std::uint64_t>::max();

const char *what_is_wrong(const std::vector<ClockNode> &nodes, const std::vector<ClockBoundNs> &bounds)
{
	if (nodes.empty())
		return "it has no nodes";
	if (nodes.size() > ClockMap::max_nodes)
		return "it has more than 131072 nodes";
	if (bounds.size() != nodes.size() + 1)
		return "the number of its bounds is not that of its nodes plus one";
	if (nodes.front().ns < 0)
		return "its times are before 1970";
	for (std::size_t i = 1; i < nodes.size(); ++i)
		if (nodes[i].ticks <= nodes[i - 1].ticks || nodes[i].ns <= nodes[i - 1].ns)
			return "its nodes do not increase";
	return nullptr;
}

} // namespace

// Rounded down, so that a line never exceeds its end node.
ClockMap::Slope::Slope(std::uint64_t ns, std::uint64_t ticks)
{
	const std::uint64_t whole = ns / ticks;
	shift = static_cast<unsigned>(std::countl_zero(whole)); // 64 if it is below 1
	const Wide scaled = (Wide(ns) << (shift < 64 ? shift : 63)) / ticks;
	shift = shift < 64 ? shift : 63;
	fraction = static_cast<std::uint64_t>(scaled);
}

std::uint64_t ClockMap::Slope::times(std::uint64_t ticks) const
{
	const Wide product = (Wide(fraction) * ticks) >> shift;
	return product > latest ? latest : static_cast<std::uint64_t>(product);
}

std::shared_ptr<const ClockMap> ClockMap::make(std::vector<ClockNode> nodes, std::vector<ClockBoundNs> bounds,
					       std::uint64_t frequency_hz, const char *&why)
{
	why = what_is_wrong(nodes, bounds);
	if (why)
		return nullptr;
	return std::shared_ptr<const ClockMap>(new ClockMap(std::move(nodes), std::move(bounds), frequency_hz));
}

ClockMap::ClockMap(std::vector<ClockNode> nodes, std::vector<ClockBoundNs> bounds, std::uint64_t frequency_hz)
    : nodes_(std::move(nodes)), bounds_(std::move(bounds))
{
	for (std::size_t i = 1; i < nodes_.size(); ++i)
		slopes_.emplace_back(static_cast<std::uint64_t>(nodes_[i].ns - nodes_[i - 1].ns),
				     nodes_[i].ticks - nodes_[i - 1].ticks);
	slopes_.emplace_back(second_ns, std::max<std::uint64_t>(frequency_hz, 1));
	const std::uint64_t range = nodes_.back().ticks - nodes_.front().ticks;
	while ((range >> part_shift_) > 2 * nodes_.size())
		++part_shift_;
	std::uint32_t node = 0;
	for (std::uint64_t part = 0; part <= range >> part_shift_; ++part) {
		while (node + 1 < nodes_.size() && nodes_[node + 1].ticks - nodes_.front().ticks <= part << part_shift_)
			++node;
		parts_.push_back(node);
	}
}

std::size_t ClockMap::node_before(std::uint64_t ticks) const
{
	const std::uint64_t part = (ticks - nodes_.front().ticks) >> part_shift_;
	if (part >= parts_.size())
		return nodes_.size() - 1;
	const std::size_t first = parts_[part], last = part + 1 < parts_.size() ? parts_[part + 1] : nodes_.size() - 1;
	const auto after = std::upper_bound(nodes_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
					    nodes_.begin() + static_cast<std::ptrdiff_t>(last) + 1, ticks,
					    [](std::uint64_t at, const ClockNode &node) { return at < node.ticks; });
	return static_cast<std::size_t>(after - nodes_.begin()) - 1;
}

std::uint64_t ClockMap::map(std::uint64_t ticks) const
{
	const ClockNode &first = nodes_.front();
	if (ticks < first.ticks) {
		const std::uint64_t before = slopes_.back().times(first.ticks - ticks),
				    at = static_cast<std::uint64_t>(first.ns);
		return before >= at ? 0 : at - before;
	}
	const std::size_t node = node_before(ticks);
	const std::uint64_t after = slopes_[node].times(ticks - nodes_[node].ticks),
			    at = static_cast<std::uint64_t>(nodes_[node].ns);
	return after > latest - at ? latest : at + after;
}

// A node's bound is the better one of the two lines that meet there.
ClockBoundNs ClockMap::bound_at(std::uint64_t ns) const
{
	const auto after =
	    std::upper_bound(nodes_.begin(), nodes_.end(), ns, [](std::uint64_t at, const ClockNode &node) {
		    return at < static_cast<std::uint64_t>(node.ns);
	    });
	const auto number = static_cast<std::size_t>(after - nodes_.begin());
	const ClockBoundNs bound = bounds_[number];
	if (number == 0 || static_cast<std::uint64_t>(nodes_[number - 1].ns) != ns)
		return bound;
	const ClockBoundNs before = bounds_[number - 1];
	return !bound || (before && *before < *bound) ? before : bound;
}

} // namespace monitor::trace
