// SPDX-License-Identifier: MIT
#include "factorial.h"

#include <bit>
#include <cmath>
#include <numeric>

namespace monitor::plan {
namespace {

double mean_of(const std::vector<double> &values)
{
	return std::accumulate(values.begin(), values.end(), 0.) / static_cast<double>(values.size());
}

} // namespace

Design analyse(std::span<const std::vector<double>> outcomes)
{
	const auto combinations = static_cast<double>(outcomes.size()),
		   repetitions = static_cast<double>(outcomes[0].size());
	std::vector<double> means;
	double error = 0, variation = 0;
	for (const auto &each : outcomes) {
		means.push_back(mean_of(each));
		for (const double value : each)
			error += (value - means.back()) * (value - means.back());
	}
	Design design;
	design.mean = mean_of(means);
	for (std::size_t factors = 1; factors < outcomes.size(); ++factors) {
		double sum = 0; // of products of the means with the signs of the factors' levels
		for (std::size_t i = 0; i < outcomes.size(); ++i)
			sum += std::popcount(factors & ~i) % 2 ? -means[i] : means[i];
		const double coefficient = sum / combinations;
		design.effects.push_back(
		    {factors, 2 * coefficient, combinations * repetitions * coefficient * coefficient});
		variation += design.effects.back().share;
	}
	variation += error;
	for (Effect &each : design.effects)
		each.share = variation > 0 ? 100 * each.share / variation : 0;
	design.error_share = variation > 0 ? 100 * error / variation : 0;
	if (repetitions > 1)
		design.bound = 4 * std::sqrt(error / (combinations * (repetitions - 1)) / (combinations * repetitions));
	return design;
}

} // namespace monitor::plan
