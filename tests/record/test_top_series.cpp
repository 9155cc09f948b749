// SPDX-License-Identifier: MIT
// The most important of many series, and the others as one: bounded, and no sum ever steps back.
#include <cstdint>
#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "answers/metrics/top_series.h"

namespace test_top_series {

using Series = monitor::metrics::TopSeries<std::string, std::uint64_t>;
using Changes = std::map<std::string, Series::Change>;

namespace {

constexpr double second = 1;

// A window of a second in which each used as much as it weighs.
Changes used(const std::map<std::string, std::uint64_t> &values)
{
	Changes changes;
	for (const auto &[key, value] : values)
		changes[key] = {value, static_cast<double>(value)};
	return changes;
}

std::string shown(const Series &series)
{
	std::string text;
	for (const auto &[key, each] : series.shown())
		text += key + "=" + std::to_string(each.value) + " ";
	return text + "other=" + std::to_string(series.other());
}

} // namespace

TEST_CASE("top series: the most used have their own, and count from when they have it")
{
	Series series(2);
	series.add(used({{"a", 5}, {"b", 1}, {"c", 9}}), 100, second);
	CHECK(shown(series) == "a=5 c=9 other=1");
	CHECK(series.shown().at("a").created_s == 100);
	series.add(used({{"b", 2}, {"c", 1}}), 101, second);
	CHECK(shown(series) == "a=5 c=10 other=3");
	CHECK(series.retirements() == 0);
}

TEST_CASE("top series: one that is not to be shown is part of the others")
{
	Series series(2);
	Changes changes = used({{"a", 5}});
	changes["a"].may_be_shown = false;
	series.add(changes, 100, second);
	CHECK(shown(series) == "other=5");
	series.add(used({{"a", 3}}), 101, second);
	CHECK(shown(series) == "a=3 other=5");
	series.add(changes, 102, second);
	CHECK(shown(series) == "a=8 other=5");
}

TEST_CASE("top series: one that is used much more gets the place of the least used")
{
	Series series(2);
	series.add(used({{"a", 5}, {"b", 100}}), 100, second);
	series.add(used({{"c", 40}}), 101, second);
	CHECK(shown(series) == "a=5 b=100 other=40"); // not 10 times as much yet
	series.add(used({{"c", 20}, {"a", 0}}), 102, second);
	CHECK(shown(series) == "b=100 c=20 other=40");
	CHECK(series.retired() == 5);
	CHECK(series.retirements() == 1);
	CHECK(series.shown().at("c").created_s == 102);
	series.add(used({{"a", 3}}), 103, second);
	CHECK(shown(series) == "b=100 c=20 other=43"); // what it had is not use of now
	CHECK(series.retired() == 5);
}

TEST_CASE("top series: after ten minutes twice as much is enough")
{
	for (const double later : {400.0, 800.0}) {
		Series series(1);
		series.add(used({{"a", 100}}), 100, second);
		series.add(used({{"a", 100}, {"b", 1000}}), 100 + later, second);
		CHECK(series.shown().contains("b") == (later > 600));
	}
}

TEST_CASE("top series: what was used long ago counts less")
{
	Series series(1);
	series.add(used({{"a", 1000}}), 0, second);
	series.add(used({{"b", 10}}), 1200, 1200); // after two half-lives 250 are left of a's weight
	CHECK(series.shown().contains("a"));
	for (int i = 2; i < 12; ++i)
		series.add(used({{"b", 10}}), 1200.0 * i, 1200);
	CHECK(series.shown().contains("b"));
}

TEST_CASE("top series: no sum steps back, all are what was added, and memory is bounded")
{
	std::mt19937 random(19);
	for (int round = 0; round < 8; ++round) {
		Series series(1 + random() % 10);
		const std::size_t max = 10;
		std::uint64_t all = 0, other = 0, retired = 0;
		std::map<std::string, Series::Series> before;
		for (int window = 0; window < 300; ++window) {
			std::map<std::string, std::uint64_t> values;
			for (int i = 0; i < 40; ++i) { // names come and go
				const std::uint64_t name = window / 20 * 50 + random() % 100;
				values["name" + std::to_string(name)] = random() % 8 ? random() % 10 : random() % 10000;
			}
			for (const auto &[key, value] : values)
				all += value;
			series.add(used(values), window * 60.0, 60);
			std::uint64_t sum = series.other() + series.retired();
			for (const auto &[key, each] : series.shown()) {
				sum += each.value;
				const auto earlier = before.find(key);
				if (earlier != before.end() && earlier->second.created_s == each.created_s)
					CHECK(each.value >= earlier->second.value);
				else
					CHECK(each.created_s == window * 60.0);
			}
			CHECK(sum == all);
			CHECK(series.other() >= other);
			CHECK(series.retired() >= retired);
			CHECK(series.shown().size() <= max);
			other = series.other();
			retired = series.retired();
			before = series.shown();
		}
		CHECK(series.retirements() > 0);
	}
	Series series(20);
	for (int window = 0; window < 400; ++window) {
		std::map<std::string, std::uint64_t> values;
		for (int i = 0; i < 1000; ++i)
			values["command" + std::to_string(window * 1000 + i)] = 1 + random() % 100;
		series.add(used(values), window, second);
	}
	CHECK(series.shown().size() == 20);
	CHECK(series.waiting() <= 4096);
}

} // namespace test_top_series
