// SPDX-License-Identifier: MIT
// Distributions against the values themselves: percentiles, deviation, merging, the ends of the numbers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "answers/requests/totals.h"
#include "base/histogram.h"
#include "reading/activities/distribution.h"

namespace test_distribution {

using monitor::activities::Distribution;

namespace {

constexpr auto least = std::numeric_limits<std::int64_t>::min(), greatest = std::numeric_limits<std::int64_t>::max();

Distribution distribution_of(const std::vector<std::int64_t> &values)
{
	Distribution made;
	for (const std::int64_t value : values)
		made.add(value);
	return made;
}

double deviation_of(const std::vector<std::int64_t> &values)
{
	// from the first one: near to each other, they lose nothing then
	const auto n = static_cast<long double>(values.size());
	const auto distance = [&](std::int64_t value) {
		return static_cast<long double>(static_cast<__int128>(value) - values.front());
	};
	long double mean = 0, squares = 0;
	for (const std::int64_t value : values)
		mean += distance(value) / n;
	for (const std::int64_t value : values)
		squares += (distance(value) - mean) * (distance(value) - mean) / n;
	return static_cast<double>(std::sqrt(squares));
}

void check(std::vector<std::int64_t> values)
{
	const Distribution distribution = distribution_of(values);
	const double deviation = deviation_of(values);
	std::sort(values.begin(), values.end());
	REQUIRE(distribution.count() == values.size());
	CHECK(distribution.min() == values.front());
	CHECK(distribution.max() == values.back());
	CHECK(distribution.standard_deviation() == Approx(deviation).epsilon(1e-6).margin(1e-6));
	for (const double p : {0.0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0}) {
		const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
		const auto exact = static_cast<long double>(values[std::max<std::size_t>(rank, 1) - 1]);
		const auto found = static_cast<long double>(distribution.percentile(p));
		INFO("p " << p << ": " << static_cast<double>(found) << ", not " << static_cast<double>(exact));
		CHECK(std::abs(found - exact) <= std::abs(exact) * 0.008L);
	}
	std::uint64_t sum = 0;
	std::int64_t before = least;
	distribution.visit([&](std::int64_t first, std::int64_t last, std::uint64_t count) {
		const auto from = std::lower_bound(values.begin(), values.end(), first);
		const auto to = std::upper_bound(values.begin(), values.end(), last);
		CHECK(count == static_cast<std::uint64_t>(to - from));
		CHECK((sum == 0 || first > before));
		before = last;
		sum += count;
	});
	CHECK(sum == values.size());
}

std::vector<std::int64_t> random_values(std::mt19937_64 &random, std::size_t count)
{
	std::vector<std::int64_t> values(count);
	const unsigned shift = static_cast<unsigned>(random() % 64), mask = static_cast<unsigned>(random() % 3);
	for (std::int64_t &value : values) {
		value = static_cast<std::int64_t>(random() >> (mask ? (shift + random() % 64) % 64 : shift));
		value = mask == 1 && random() % 2 ? -(value / 2) : value;
	}
	return values;
}

} // namespace

TEST_CASE("distribution: percentiles are within 0.8 % of the sorted values'")
{
	std::mt19937_64 random(1);
	for (int i = 0; i < 300; ++i)
		check(random_values(random, 1 + random() % 700));
}

TEST_CASE("distribution: the ends of the numbers, and where buckets begin")
{
	check({least});
	check({least, greatest});
	check({least, least, least, least, least + 1});
	check({greatest, greatest, greatest, greatest, greatest - 1});
	check({0});
	check({-1, 0, 1});
	std::vector<std::int64_t> boundaries;
	for (unsigned bit = 0; bit < 63; ++bit)
		for (const std::int64_t beside : {-1, 0, 1})
			for (const std::int64_t sign : {-1, 1})
				boundaries.push_back(sign * ((std::int64_t(1) << bit) + beside));
	check(boundaries);
}

TEST_CASE("distribution: large values that differ little have a small deviation")
{
	const std::int64_t large = std::int64_t(1) << 60;
	check({large, large + 1, large + 2});
	check({-large, -large + 1, -large + 7});
	CHECK(distribution_of({large, large}).standard_deviation() == 0);
}

TEST_CASE("distribution: one definition of a percentile, in whatever keeps the values")
{
	CHECK(monitor::nearest_rank(0.5, 2) == 1);
	CHECK(monitor::nearest_rank(0.5, 3) == 2);
	CHECK(monitor::nearest_rank(0.99, 100) == 99);
	CHECK(monitor::nearest_rank(0.07, 100) == 7); // 0.07 * 100 is more than 7
	CHECK(monitor::nearest_rank(0, 5) == 1);
	CHECK(monitor::nearest_rank(1, 5) == 5);
	CHECK(monitor::nearest_rank(0.5, 0) == 0);
	monitor::Histogram histogram;
	Distribution distribution;
	monitor::requests::StepTotals row;
	for (std::int64_t value = 1; value <= 120; ++value) { // each has a bucket of its own
		histogram.add(static_cast<std::uint64_t>(value));
		distribution.add(value);
		row.times.push_back(value);
		for (const int percent : {1, 7, 10, 50, 90, 99, 100}) {
			const std::int64_t right = std::max<std::int64_t>((value * percent + 99) / 100, 1);
			CHECK(static_cast<std::int64_t>(histogram.percentile(percent / 100.0)) == right);
			CHECK(distribution.percentile(percent / 100.0) == right);
			CHECK(row.percentile(percent / 100.0) == right);
		}
	}
}

TEST_CASE("distribution: without values all figures are 0")
{
	const Distribution none;
	CHECK(none.count() == 0);
	CHECK(none.mean() == 0);
	CHECK(none.percentile(0.5) == 0);
	CHECK(none.standard_deviation() == 0);
}

TEST_CASE("distribution: merged is as all at once")
{
	std::mt19937_64 random(2);
	for (int i = 0; i < 50; ++i) {
		const auto values = random_values(random, 1 + random() % 500);
		const Distribution whole = distribution_of(values);
		Distribution merged, part;
		for (const std::int64_t value : values) {
			part.add(value);
			if (random() % 20 == 0) {
				merged.merge(part);
				part = {};
			}
		}
		merged.merge(part);
		CHECK(merged.count() == whole.count());
		CHECK(merged.total() == whole.total());
		CHECK(merged.standard_deviation() == whole.standard_deviation());
		for (const double p : {0.0, 0.5, 0.99, 1.0})
			CHECK(merged.percentile(p) == whole.percentile(p));
	}
}

} // namespace test_distribution
