// SPDX-License-Identifier: MIT
#include "factor_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "phase_estimate.h"

namespace monitor::card {
namespace {

constexpr std::array<const char *, 3> groups = {"syscall", "fault", "other"};
using Groups = std::array<double, groups.size()>;

constexpr double min_factor = 0.5;   // an event in other code costs little less than in a loop
constexpr double model_error = 0.15; // relative model error of a load, besides its measured uncertainty
constexpr double max_width = 6;      // largest useful high / low of a range
constexpr int passes = 1000;         // until the factors converge

struct Equation { // factors * predicted = measured
	Groups predicted{};
	double measured = 0, weight = 0;

	double of(const Groups &factors) const
	{
		double sum = 0;
		for (std::size_t i = 0; i < groups.size(); ++i)
			sum += factors[i] * predicted[i];
		return sum;
	}
};

std::vector<Equation> equations_of(const std::vector<LoadCost> &loads)
{
	std::vector<Equation> all;
	for (const LoadCost &load : loads) {
		const double error =
		    std::hypot((load.high_ns - load.low_ns) / 2 / record::normal_95, model_error * load.predicted());
		if (load.predicted() <= 0 || error <= 0)
			continue;
		Equation &equation = all.emplace_back(Equation{{}, load.measured_ns, 1 / (error * error)});
		for (std::size_t i = 0; i < groups.size(); ++i)
			if (const auto found = load.predicted_ns.find(groups[i]); found != load.predicted_ns.end())
				equation.predicted[i] = found->second;
	}
	return all;
}

// Weighted least squares, one factor after the other.
Groups solve(const std::vector<Equation> &equations)
{
	Groups factors;
	factors.fill(1);
	for (int pass = 0; pass < passes; ++pass)
		for (std::size_t i = 0; i < groups.size(); ++i) {
			double product = 0, square = 0;
			for (const Equation &each : equations) {
				const double rest = each.of(factors) - factors[i] * each.predicted[i];
				product += each.weight * each.predicted[i] * (each.measured - rest);
				square += each.weight * each.predicted[i] * each.predicted[i];
			}
			if (square > 0)
				factors[i] = std::max(product / square, min_factor);
		}
	return factors;
}

// The range of factors that the loads require: each only up to the nearest end of its interval.
recording_file::CodeFactor required_range(const std::vector<LoadCost> &loads, const std::vector<Equation> &equations,
					  const Groups &factors)
{
	recording_file::CodeFactor range{1 - min_spread, 1 + min_spread};
	for (std::size_t i = 0; i < equations.size(); ++i) {
		const double fitted = equations[i].of(factors);
		range.low = std::min(range.low, std::max(loads[i].high_ns / fitted, 0.0));
		range.high = std::max(range.high, loads[i].low_ns / fitted);
	}
	return range;
}

} // namespace

std::string factor_group(const std::string &family)
{
	return family == "syscall" || family == "fault" ? family : "other";
}

recording_file::CodeFactors fit_factors(const std::vector<LoadCost> &loads)
{
	std::vector<LoadCost> usable = loads;
	std::erase_if(usable, [](const LoadCost &load) { return load.predicted() <= 0 || load.rounds == 0; });
	const std::vector<Equation> equations = equations_of(usable);
	const Groups factors = solve(equations);
	const recording_file::CodeFactor range = required_range(usable, equations, factors);
	recording_file::CodeFactors result;
	for (std::size_t i = 0; i < groups.size(); ++i) {
		double weight = 0; // of the factor, with the others fixed
		for (const Equation &each : equations)
			weight += each.weight * each.predicted[i] * each.predicted[i];
		if (weight <= 0)
			continue;
		const double error = 1 / std::sqrt(weight) / factors[i];
		result[groups[i]] = {factors[i] * std::max(1 - std::hypot(1 - range.low, error), 0.1),
				     factors[i] * (1 + std::hypot(range.high - 1, error))};
	}
	const auto is_too_wide = [](const auto &of) { return of.second.high > max_width * of.second.low; };
	if (!are_possible(result) || std::ranges::any_of(result, is_too_wide))
		throw Error(
		    "the programs' times differ by more than what the probes cost: run it again while less else "
		    "runs on this machine");
	return result;
}

} // namespace monitor::card
