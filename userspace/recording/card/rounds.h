// SPDX-License-Identifier: MIT
// Computes what an event costs from rounds of a workload without, with and again without probes: the median of the
// rounds, with quartiles. A negative result is kept: it shows that noise exceeded the cost. reading/cost/probe_cost.cpp
// judges it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/recording_file/calibration.h"

namespace monitor::card {

// CPU time of the same work without, with and without probes, in ns per unit.
struct Round {
	double before = 0, with = 0, after = 0;
};

using recording_file::CalibratedCost;

// Interpolates between the two nearest values if the position is not whole. `values` must not be empty.
inline double quantile(std::vector<double> values, double share)
{
	std::ranges::sort(values);
	const double place = share * static_cast<double>(values.size() - 1);
	const auto below = static_cast<std::size_t>(place);
	const double above = values[std::min(below + 1, values.size() - 1)];
	return values[below] + (place - static_cast<double>(below)) * (above - values[below]);
}

inline CalibratedCost estimate(const std::vector<Round> &rounds, double events_per_unit)
{
	if (rounds.empty())
		return {};
	std::vector<double> costs, before, after;
	for (const Round &round : rounds) {
		costs.push_back((round.with - (round.before + round.after) / 2) / events_per_unit);
		before.push_back(round.before);
		after.push_back(round.after);
	}
	const double first = quantile(before, 0.5), second = quantile(after, 0.5);
	return {quantile(costs, 0.25), quantile(costs, 0.5), quantile(costs, 0.75),
		first + second > 0 ? 2 * std::abs(second - first) / (first + second) : 0, rounds.size()};
}

} // namespace monitor::card
