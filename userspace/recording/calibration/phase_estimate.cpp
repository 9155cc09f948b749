// SPDX-License-Identifier: MIT
#include "phase_estimate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recording/card/rounds.h"

namespace monitor::record {
namespace {

// Minimum progress in a part. User time is counted in ticks of 1 to 10 ms.
constexpr std::array<double, EDC_PROGRESS_COUNTERS> min_progress = {16, 16, 16, 8e6};

double per_step(const PhasePart &part, std::size_t counter)
{
	return part.cpu_ns / part.progress[counter];
}

bool is_usable(const Phase &phase, std::size_t counter)
{
	return std::ranges::all_of(std::array{&phase.before, &phase.without, &phase.after},
				   [&](const PhasePart *part) {
					   return part->progress[counter] >= min_progress[counter] && part->cpu_ns > 0;
				   }) &&
	       phase.before.events + phase.after.events > 0;
}

std::vector<Phase> usable(const std::vector<Phase> &phases, std::size_t counter)
{
	std::vector<Phase> found;
	std::ranges::copy_if(phases, std::back_inserter(found),
			     [&](const Phase &phase) { return is_usable(phase, counter); });
	return found;
}

// How much the two parts with probes differ. The part without probes must not influence the choice of the counter.
double scatter(const std::vector<Phase> &phases, std::size_t counter)
{
	std::vector<double> differences;
	for (const Phase &phase : phases) {
		const double before = per_step(phase.before, counter), after = per_step(phase.after, counter);
		differences.push_back(std::abs(before - after) / (before + after));
	}
	return card::quantile(differences, 0.5);
}

double cost_in(const Phase &phase, std::size_t counter)
{
	const double steps = phase.before.progress[counter] + phase.after.progress[counter];
	const double with = (phase.before.cpu_ns + phase.after.cpu_ns) / steps;
	return (with - per_step(phase.without, counter)) * steps / (phase.before.events + phase.after.events);
}

} // namespace

Median median_of(const std::vector<double> &values)
{
	std::vector<double> means;
	means.reserve(values.size() * (values.size() + 1) / 2);
	for (std::size_t i = 0; i < values.size(); ++i)
		for (std::size_t j = i; j < values.size(); ++j)
			means.push_back((values[i] + values[j]) / 2);
	std::ranges::sort(means);
	const auto n = static_cast<double>(values.size()), all = static_cast<double>(means.size());
	const double below = all / 2 - normal_95 * std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
	const auto outside = static_cast<std::size_t>(std::clamp(below, 0.0, all / 2));
	const std::size_t half = means.size() / 2;
	return {means[outside], means.size() % 2 ? means[half] : (means[half - 1] + means[half]) / 2,
		means[means.size() - 1 - outside]};
}

PhaseEstimate estimate_phases(const std::vector<Phase> &phases)
{
	PhaseEstimate result;
	std::vector<Phase> best;
	double least = 0;
	for (std::size_t counter = 0; counter < EDC_PROGRESS_COUNTERS; ++counter) {
		std::vector<Phase> found = usable(phases, counter);
		if (found.size() < min_phases || found.size() * 2 < phases.size())
			continue;
		if (const double scattered = scatter(found, counter); best.empty() || scattered < least) {
			least = scattered;
			best = std::move(found);
			result.counter = counter;
		}
	}
	result.phases = best.size();
	if (phases.size() < min_phases)
		result.why_unknown = fmt::format("there was time for {} phases without probes, and {} are needed",
						 phases.size(), min_phases);
	else if (best.empty())
		result.why_unknown = "no counter of the kernel advances with what the command does";
	if (!result.why_unknown.empty())
		return result;
	std::vector<double> costs;
	std::ranges::transform(best, std::back_inserter(costs),
			       [&](const Phase &phase) { return cost_in(phase, result.counter); });
	const Median median = median_of(costs);
	result.low = median.low;
	result.median = median.median;
	result.high = median.high;
	if (result.high - result.low > result.median)
		result.why_unknown =
		    fmt::format("the phases without probes differ by too much: {:.1f} to {:.1f} ns per event",
				result.low, result.high);
	return result;
}

} // namespace monitor::record
