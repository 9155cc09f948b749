// SPDX-License-Identifier: MIT
#include "significance.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace monitor::diff {
namespace {

std::vector<std::size_t> ascending(std::span<const double> values)
{
	std::vector<std::size_t> order(values.size());
	std::iota(order.begin(), order.end(), std::size_t{0});
	std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
	return order;
}

// Twice the mean rank of each value: whole numbers. `ties`: the sum of t^3 - t over groups of t equal values.
std::vector<std::uint32_t> doubled_ranks(std::span<const double> values, double &ties)
{
	const std::vector<std::size_t> order = ascending(values);
	std::vector<std::uint32_t> ranks(values.size());
	ties = 0;
	for (std::size_t first = 0, next = 0; first < order.size(); first = next) {
		while (next < order.size() && values[order[next]] == values[order[first]])
			++next;
		for (std::size_t i = first; i < next; ++i)
			ranks[order[i]] = static_cast<std::uint32_t>(first + 1 + next);
		const auto equal = static_cast<double>(next - first);
		ties += equal * equal * equal - equal;
	}
	return ranks;
}

// The number of ways in which `chosen` of the ranks have each sum.
std::vector<double> ways_by_sum(std::span<const std::uint32_t> ranks, std::size_t chosen)
{
	const std::size_t sums = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0}) + 1;
	std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(sums));
	ways[0][0] = 1;
	for (const std::uint32_t rank : ranks)
		for (std::size_t number = chosen; number > 0; --number)
			for (std::size_t sum = rank; sum < sums; ++sum)
				ways[number][sum] += ways[number - 1][sum - rank];
	return ways[chosen];
}

double exact_p(std::span<const std::uint32_t> ranks, std::size_t chosen, double sum, double expected)
{
	const std::vector<double> ways = ways_by_sum(ranks, chosen);
	double all = 0, as_far = 0;
	for (std::size_t i = 0; i < ways.size(); ++i) {
		all += ways[i];
		if (std::abs(static_cast<double>(i) - expected) >= std::abs(sum - expected))
			as_far += ways[i];
	}
	return as_far / all;
}

double ways_to_divide(std::size_t before, std::size_t after)
{
	double ways = 1;
	for (std::size_t i = 1; i <= before; ++i)
		ways = ways * static_cast<double>(after + i) / static_cast<double>(i);
	return ways;
}

} // namespace

double mann_whitney(std::span<const double> before, std::span<const double> after)
{
	std::vector<double> values(before.begin(), before.end());
	values.insert(values.end(), after.begin(), after.end());
	double ties = 0;
	const std::vector<std::uint32_t> ranks = doubled_ranks(values, ties);
	const auto n = static_cast<double>(before.size()), m = static_cast<double>(after.size()), all = n + m;
	const auto of_before = std::span(ranks).first(before.size());
	const double sum = std::accumulate(of_before.begin(), of_before.end(), 0.0), expected = n * (all + 1);
	if (values.size() <= max_exact)
		return exact_p(ranks, before.size(), sum, expected);
	const double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1))); // of the sum of ranks, not doubled
	if (variance <= 0)
		return 1;
	const double distance = std::max(std::abs(sum - expected) / 2 - 0.5, 0.0);
	return std::erfc(distance / std::sqrt(2 * variance));
}

double min_p(std::size_t before, std::size_t after)
{
	return std::min(2 / ways_to_divide(before, after), 1.0);
}

std::size_t max_tested_rows(std::size_t before, std::size_t after)
{
	if (std::min(before, after) < min_repetitions)
		return 0;
	constexpr double max_rows = 1e9;
	return static_cast<std::size_t>(std::min(significance_level / min_p(before, after), max_rows));
}

std::size_t repetitions_for(std::size_t rows)
{
	std::size_t repetitions = min_repetitions;
	while (max_tested_rows(repetitions, repetitions) < std::min<std::size_t>(rows, 1'000'000))
		++repetitions;
	return repetitions;
}

std::vector<double> holm(std::span<const double> p)
{
	const std::vector<std::size_t> order = ascending(p);
	std::vector<double> corrected(p.size());
	double largest = 0;
	for (std::size_t i = 0; i < order.size(); ++i) {
		largest = std::max(largest, std::min(p[order[i]] * static_cast<double>(order.size() - i), 1.0));
		corrected[order[i]] = largest;
	}
	return corrected;
}

} // namespace monitor::diff
