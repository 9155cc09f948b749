// SPDX-License-Identifier: MIT
#include "paired.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace monitor::pilot {
namespace {

constexpr std::size_t max_groups = 8, min_groups = 4;
// Minimum progress in a group's phases without, and with, probes. User time: four ticks of the slowest clock.
constexpr std::array<double, EDC_PROGRESS_COUNTERS> min_progress = {64, 64, 64, 40e6};
constexpr double min_cpu_ns = 10e6;

void add(record::PhasePart &sum, const record::PhasePart &part)
{
	sum.cpu_ns += part.cpu_ns;
	for (std::size_t i = 0; i < sum.progress.size(); ++i)
		sum.progress[i] += part.progress[i];
}

std::vector<PhasePair> sum_in_groups(const std::vector<PhasePair> &phases, std::size_t groups)
{
	std::vector<PhasePair> sums(groups);
	for (std::size_t i = 0; i < phases.size(); ++i) {
		PhasePair &sum = sums[i * sums.size() / phases.size()];
		add(sum.without, phases[i].without);
		add(sum.with, phases[i].with);
	}
	return sums;
}

// Variation of the groups' CPU time per unit of progress with probes; none: too little progress. Phases without probes
// must not influence the choice of the counter.
std::optional<double> scatter(const std::vector<PhasePair> &sums, std::size_t counter)
{
	double sum = 0, square = 0;
	for (const PhasePair &each : sums) {
		for (const record::PhasePart *part : {&each.without, &each.with})
			if (part->progress[counter] < min_progress[counter] || part->cpu_ns < min_cpu_ns)
				return {};
		const double per_step = each.with.cpu_ns / each.with.progress[counter];
		sum += per_step;
		square += per_step * per_step;
	}
	const auto n = static_cast<double>(sums.size());
	return std::sqrt(std::max(square / n - sum / n * sum / n, 0.0)) / (sum / n);
}

std::optional<record::Median> share_of_groups(const std::vector<PhasePair> &sums)
{
	std::optional<std::size_t> best;
	double least = 0;
	for (std::size_t counter = 0; counter < EDC_PROGRESS_COUNTERS; ++counter)
		if (const auto found = scatter(sums, counter); found && (!best || *found < least)) {
			best = counter;
			least = *found;
		}
	if (!best)
		return {};
	std::vector<Pair> pairs;
	for (const PhasePair &each : sums)
		pairs.push_back(
		    {each.without.cpu_ns / each.without.progress[*best], each.with.cpu_ns / each.with.progress[*best]});
	return share_of_pairs(pairs);
}

} // namespace

std::optional<record::Median> share_of_pairs(const std::vector<Pair> &pairs)
{
	std::vector<double> shares;
	for (const Pair &pair : pairs)
		if (pair.without > 0)
			shares.push_back(pair.with / pair.without - 1);
	return shares.empty() ? std::nullopt : std::optional(record::median_of(shares));
}

std::optional<record::Median> share_of_phases(const std::vector<PhasePair> &phases)
{
	for (std::size_t groups = max_groups; groups >= min_groups; groups /= 2)
		if (phases.size() >= max_groups)
			if (const auto share = share_of_groups(sum_in_groups(phases, groups)))
				return share;
	return {};
}

} // namespace monitor::pilot
