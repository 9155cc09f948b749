// SPDX-License-Identifier: MIT
#include "clock_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clock_sample_buckets.h"
#include "feasible_lines.h"

namespace monitor::collection {
namespace {

constexpr std::size_t widest_reach = 8; // of a window, in buckets with samples to either side

// A change of rate seen from a clock of another rate: multiplied by the cube of the rates' ratio.
double scaled_rho(std::uint64_t rho_ppb)
{
	return static_cast<double>(rho_ppb) * (1 + 4 * max_rate_ppb * 1e-9);
}

struct LineNode {
	enum class State : std::uint8_t { open, infeasible, known };

	State state = State::open;
	std::uint64_t ticks = 0;
	long double min = 0, max = 0;       // range of the residual there
	FeasibleLines::Range rate = {0, 0}; // relative to the nominal rate, in ppb

	double half_range() const { return static_cast<double>(max - min) / 2; }
};

// Lines through windows, for a rate that changes by at most rho.
class LineSearch {
public:
	LineSearch(ClockSampleBuckets &buckets, double rho_ppb) : buckets_(buckets), rho_ppb_(rho_ppb)
	{
		buckets_.find_hulls(rho_ppb_);
	}

	// The lines of the widest window that has any.
	LineNode find(std::uint64_t ticks, std::size_t boundary) const
	{
		LineNode node;
		bool is_contradicted = false;
		for (std::size_t reach = widest_reach; reach > 0; reach /= 2) {
			node = find_within(ticks, boundary, reach);
			if (is_contradicted && node.state == LineNode::State::open)
				node.state = LineNode::State::infeasible; // neither side has samples
			if (node.state != LineNode::State::infeasible)
				break;
			is_contradicted = true;
		}
		return node;
	}
	LineNode find_within(std::uint64_t ticks, std::size_t boundary, std::size_t reach) const;

private:
	double max_deviation(double distance) const { return rho_ppb_ * distance * distance / 2; }

	ClockSampleBuckets &buckets_;
	double rho_ppb_;
};

LineNode LineSearch::find_within(std::uint64_t ticks, std::size_t boundary, std::size_t reach) const
{
	LineNode node;
	node.ticks = ticks;
	const std::size_t from = boundary - std::min(boundary, reach),
			  to = std::min(boundary + reach, buckets_.count());
	const auto above = buckets_.at_most(from, to), below = buckets_.at_least(from, to);
	if (above.is_empty() || below.is_empty())
		return node;
	const long double base = above.first->residual;
	const auto height = [&](const SamplePoint &point) { return static_cast<double>(point.residual - base); };
	const auto distance = [&](const SamplePoint &point) { return buckets_.nominal().seconds(ticks, point.ticks); };
	constexpr double infinite = std::numeric_limits<double>::infinity();
	FeasibleLines::Range value{-infinite, infinite};
	for (const SamplePoint &point : above) {
		const double d = distance(point);
		value.max = std::min(value.max, height(point) + max_deviation(d) + max_rate_ppb * std::abs(d));
	}
	for (const SamplePoint &point : below) {
		const double d = distance(point);
		value.min = std::max(value.min, height(point) - max_deviation(d) - max_rate_ppb * std::abs(d));
	}
	FeasibleLines lines(value, {-max_rate_ppb, max_rate_ppb});
	for (const SamplePoint &point : above)
		lines.at_most(distance(point), height(point) + max_deviation(distance(point)));
	for (const SamplePoint &point : below)
		lines.at_least(distance(point), height(point) - max_deviation(distance(point)));
	node.state = lines.is_empty() ? LineNode::State::infeasible : LineNode::State::known;
	if (lines.is_empty())
		return node;
	node.min = base + static_cast<long double>(lines.values().min);
	node.max = base + static_cast<long double>(lines.values().max);
	node.rate = lines.slopes();
	return node;
}

struct NodePosition {
	std::uint64_t ticks;
	std::size_t boundary; // between the bucket before this index and this one
};

// The boundaries of buckets and, outside of the samples, points at doubling distances up to the times to cover.
std::vector<NodePosition> node_positions(const ClockSampleBuckets &buckets, const LineOptions &options)
{
	std::vector<NodePosition> positions;
	const std::uint64_t begin = buckets.begin(0), end = buckets.end(buckets.count() - 1);
	const auto [from, to] = options.cover.value_or(std::pair(begin, end));
	const auto extend = [&](std::uint64_t missing, auto add_at) {
		for (std::uint64_t far = buckets.width_ticks(); missing > 0 && far < missing; far *= 2) {
			add_at(far);
			if (far > std::numeric_limits<std::uint64_t>::max() / 2)
				break;
		}
		if (missing > 0)
			add_at(missing);
	};
	extend(begin - std::min(from, begin), [&](std::uint64_t far) { positions.push_back({begin - far, 0}); });
	std::reverse(positions.begin(), positions.end());
	for (std::size_t i = 0; i < buckets.count(); ++i) {
		positions.push_back({buckets.begin(i), i});
		if (i + 1 == buckets.count() || buckets.begin(i + 1) > buckets.end(i))
			positions.push_back({buckets.end(i), i + 1});
	}
	extend(std::max(to, end) - end, [&](std::uint64_t far) { positions.push_back({end + far, buckets.count()}); });
	return positions;
}

// The number of the widest windows without a line.
std::size_t count_without_line(ClockSampleBuckets &buckets, const std::vector<NodePosition> &positions,
			       std::uint64_t rho_ppb)
{
	const LineSearch search(buckets, scaled_rho(rho_ppb));
	return static_cast<std::size_t>(
	    std::count_if(positions.begin(), positions.end(), [&](const NodePosition &position) {
		    return search.find_within(position.ticks, position.boundary, widest_reach).state ==
			   LineNode::State::infeasible;
	    }));
}

// The smallest of max_rho, a half, a quarter ... of it and 0, for which at most this many windows lack a line.
std::uint64_t find_min_rho(ClockSampleBuckets &buckets, const std::vector<NodePosition> &positions,
			   std::uint64_t max_rho, std::size_t max_without_line)
{
	std::vector<std::uint64_t> rhos;
	for (std::uint64_t rho = max_rho; rho > 0; rho /= 2)
		rhos.insert(rhos.begin(), rho);
	rhos.insert(rhos.begin(), 0);
	// A larger rho never removes a line.
	const auto found = std::partition_point(rhos.begin(), rhos.end() - 1, [&](std::uint64_t rho) {
		return count_without_line(buckets, positions, rho) > max_without_line;
	});
	return *found;
}

// A step breaks few windows, and no rho explains it. If many have no line, but have one with a larger rho, the rate
// changes faster than assumed.
void choose_rho(ClockSampleBuckets &buckets, const std::vector<NodePosition> &positions, std::uint64_t assumed,
		ClockLines &made)
{
	constexpr std::uint64_t max_times = 16;
	const std::size_t without = count_without_line(buckets, positions, assumed);
	made.rho_ppb = assumed;
	if (without * 10 > positions.size()) {
		const std::uint64_t most = std::max<std::uint64_t>(assumed, 1) * max_times;
		const std::size_t fewest = count_without_line(buckets, positions, most);
		if (fewest * 2 < without) {
			made.min_rho_ppb = find_min_rho(buckets, positions, most, fewest);
			made.rho_ppb = 2 * made.min_rho_ppb;
			return;
		}
	}
	made.min_rho_ppb = find_min_rho(buckets, positions, assumed, without);
}

// Connects nodes by lines.
class LineWriter {
public:
	LineWriter(const NominalLine &nominal, double rho_ppb, double tick_ns, ClockLines &made)
	    : nominal_(nominal), rho_ppb_(rho_ppb), tick_ns_(tick_ns), made_(made)
	{
		made_.bounds_ns.push_back(std::nullopt); // before the first
	}

	void add(const LineNode &node)
	{
		if (node.state == LineNode::State::open)
			return;
		const std::int64_t ns = nominal_.ns(node.ticks, (node.min + node.max) / 2);
		const bool is_later =
		    made_.nodes.empty() || (node.ticks > made_.nodes.back().ticks && ns > made_.nodes.back().ns);
		if (node.state == LineNode::State::infeasible || !is_later || ns < 0) {
			++made_.windows;
			++made_.infeasible;
			is_broken_ = true;
			return;
		}
		if (!made_.nodes.empty())
			add_window(node);
		made_.nodes.push_back({node.ticks, ns});
		last_ = node;
		is_broken_ = false;
	}

	void finish()
	{
		if (!made_.nodes.empty())
			made_.bounds_ns.push_back(std::nullopt); // after the last
	}

private:
	void add_window(const LineNode &node)
	{
		made_.bounds_ns.push_back(is_broken_ ? std::nullopt : bound_until(node));
		++made_.windows;
		made_.infeasible += !made_.bounds_ns.back();
	}

	// The relation deviates from its chord by at most rho d^2 / 8, and at both ends from the node by half of the
	// range there. nullopt if no rate that both ends allow connects them.
	trace::ClockBoundNs bound_until(const LineNode &node) const
	{
		constexpr double most = 1e18;
		const double d = nominal_.seconds(last_.ticks, node.ticks), drift = rho_ppb_ * d;
		const double slowest = std::max({-max_rate_ppb, last_.rate.min - drift, node.rate.min - drift});
		const double fastest = std::min({max_rate_ppb, last_.rate.max + drift, node.rate.max + drift});
		if (static_cast<double>(node.min - last_.max) > fastest * d + 1 ||
		    static_cast<double>(node.max - last_.min) < slowest * d - 1)
			return std::nullopt;
		constexpr double rounding_ns = 2; // half at a node, one on the line, and arithmetic errors
		const double bound =
		    std::max(last_.half_range(), node.half_range()) + rho_ppb_ * d * d / 8 + tick_ns_ + rounding_ns;
		return bound < most ? trace::ClockBoundNs(static_cast<std::uint64_t>(std::ceil(bound))) : std::nullopt;
	}

	const NominalLine &nominal_;
	double rho_ppb_, tick_ns_;
	ClockLines &made_;
	LineNode last_;
	bool is_broken_ = false; // no line connects the last node with this one
};

} // namespace

std::uint64_t ClockLines::min_bound_ns() const
{
	std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
	for (const auto &bound : bounds_ns)
		least = std::min(least, bound.value_or(least));
	return has_bound() ? least : 0;
}

std::uint64_t ClockLines::max_bound_ns() const
{
	std::uint64_t greatest = 0;
	for (const auto &bound : bounds_ns)
		greatest = std::max(greatest, bound.value_or(0));
	return greatest;
}

ClockLines lines_of(const ClockSamples &samples, const LineOptions &options)
{
	ClockLines made;
	made.rho_ppb = options.rho_ppb;
	ClockSampleBuckets buckets(samples, options);
	if (buckets.count() == 0)
		return made;
	const std::vector<NodePosition> positions = node_positions(buckets, options);
	choose_rho(buckets, positions, options.rho_ppb, made);
	const double rho_ppb = scaled_rho(made.rho_ppb);
	const double tick_ns = 1e9 / static_cast<double>(std::max<std::uint64_t>(options.frequency_hz, 1));
	const LineSearch search(buckets, rho_ppb);
	LineWriter writer(buckets.nominal(), rho_ppb, tick_ns, made);
	for (const NodePosition &position : positions)
		writer.add(search.find(position.ticks, position.boundary));
	writer.finish();
	if (made.nodes.empty())
		made.bounds_ns.clear();
	return made;
}

} // namespace monitor::collection
