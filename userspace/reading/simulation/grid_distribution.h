// SPDX-License-Identifier: MIT
// The distribution of a duration, as probabilities of equidistant values (points).
//
// Durations in series are added by convolution; of parallel ones, the maximum has the product of their distribution
// functions. All are taken to be independent, and in ns.
//
// Invariant: at most about max_points points, with a sum of 1 and no negligible ones at the ends. An operation changes
// the mean by rounding only, and the deviation by less than the distance of two points.
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
	// The sum of both; of `times` durations like this one.
	GridDistribution then(const GridDistribution &other) const;
	GridDistribution repeated(std::uint64_t times) const;
	// The maximum of both; of `number` durations like this one, at least 1.
	GridDistribution beside(const GridDistribution &other) const;
	GridDistribution side_by_side(std::uint64_t number) const;
	// This one with the probability, else the other one.
	GridDistribution or_else(double probability, const GridDistribution &other) const;

private:
	GridDistribution(double start, double step, std::vector<double> mass);
	double end() const { return start_ + step_ * static_cast<double>(mass_.size() - 1); }
	// The probabilities on another grid; what is outside of it is moved to its first or last point.
	std::vector<double> resampled(double start, double step, std::size_t points) const;

	double start_, step_;
	std::vector<double> mass_;
};

} // namespace monitor::simulation
