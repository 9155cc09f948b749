// SPDX-License-Identifier: MIT
// The mean of a sample, and the standard deviation of what it is drawn from.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

namespace monitor {

// 0 of an empty one
inline double sample_mean(const std::vector<double> &values)
{
	const double sum = std::accumulate(values.begin(), values.end(), 0.0);
	return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// 0 of fewer than two values
inline double sample_deviation(const std::vector<double> &values)
{
	const double mean = sample_mean(values);
	double sum = 0;
	for (const double value : values)
		sum += (value - mean) * (value - mean);
	return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

} // namespace monitor
