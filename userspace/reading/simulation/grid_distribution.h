// SPDX-License-Identifier: MIT
// The distribution of a time as probabilities at equally far points: what is left of a series-parallel graph when
// series are convolved, and distribution functions of what is parallel multiplied. All times are independent, in ns.
//
// Invariant: at most max_points points, of which none at the ends is negligible; their sum is 1. Each operation keeps
// the mean but for rounding, and the deviation but for less than the distance of two points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace monitor::simulation {

class GridDistribution {
public:
	static constexpr std::size_t max_points = 4096;

	static GridDistribution point(double time);
	static GridDistribution uniform(double from, double to);
	static GridDistribution exponential(double mean);
	static GridDistribution values(std::span<const double> sample); // not empty

	double mean() const;
	double deviation() const;
	double quantile(double share) const;

	GridDistribution scaled(double factor) const;
	// One after the other; how often this one after itself.
	GridDistribution then(const GridDistribution &other) const;
	GridDistribution repeated(std::uint64_t times) const;
	// Both at once, until the last one ends; as many of this one at once.
	GridDistribution beside(const GridDistribution &other) const;
	GridDistribution side_by_side(std::uint64_t number) const; // at least 1
	// This one with a probability, else the other one.
	GridDistribution or_else(double probability, const GridDistribution &other) const;

private:
	GridDistribution(double start, double step, std::vector<double> mass);
	double end() const { return start_ + step_ * static_cast<double>(mass_.size() - 1); }
	// The same on another grid; what is before it is moved to its first point.
	std::vector<double> on(double start, double step, std::size_t points) const;

	double start_, step_;
	std::vector<double> mass_;
};

} // namespace monitor::simulation
