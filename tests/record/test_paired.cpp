// SPDX-License-Identifier: MIT
// What probes add to a command's CPU time, from runs and from phases without and with them (recording/pilot/paired.h).
#include <catch2/catch.hpp>

#include <random>

#include "recording/pilot/paired.h"

namespace test_paired {

using monitor::pilot::Pair;
using monitor::pilot::PhasePair;
using monitor::pilot::share_of_pairs;
using monitor::pilot::share_of_phases;
using monitor::record::PhasePart;

namespace {

// A command whose probes add `share`, and which advances by steps of one counter, with other work in each phase.
std::vector<PhasePair> phases(double share, std::size_t counter, double steps_per_ms, std::size_t number = 64)
{
	std::mt19937 random(7);
	std::uniform_real_distribution<double> cpu_ms(20, 60), noise(0.98, 1.02);
	const auto part = [&](double cost) {
		PhasePart made;
		made.cpu_ns = cpu_ms(random) * 1e6;
		made.progress[counter] = made.cpu_ns / 1e6 * steps_per_ms / cost * noise(random);
		return made;
	};
	std::vector<PhasePair> all;
	for (std::size_t i = 0; i < number; ++i)
		all.push_back({part(1), part(1 + share)});
	return all;
}

} // namespace

TEST_CASE("pilot: pairs of runs give the share with an interval, whatever one run met")
{
	CHECK(!share_of_pairs({}));
	CHECK(!share_of_pairs({{0, 1}}));
	const auto few = share_of_pairs({{100, 110}, {200, 240}, {100, 115}});
	REQUIRE(few);
	CHECK(few->low == Approx(0.1));
	CHECK(few->median == Approx(0.15));
	CHECK(few->high == Approx(0.2));
	std::vector<Pair> many(20, {100, 115});
	many[3] = {100, 900};
	CHECK(share_of_pairs(many)->high == Approx(0.15));
}

TEST_CASE("pilot: phases are compared for the same progress, by any counter that advances")
{
	for (std::size_t counter = 0; counter < EDC_PROGRESS_COUNTERS; ++counter) {
		const double per_ms = counter == EDC_PROGRESS_USER ? 0.9e6 : 20;
		const auto share = share_of_phases(phases(0.3, counter, per_ms));
		REQUIRE(share);
		CHECK(share->low < 0.31);
		CHECK(share->median == Approx(0.3).margin(0.02));
		CHECK(share->high > 0.29);
		CHECK(share->high - share->low < 0.1);
	}
}

TEST_CASE("pilot: the steadiest counter says it")
{
	std::vector<PhasePair> both = phases(0.3, EDC_PROGRESS_CALLS, 20);
	std::mt19937 random(3);
	std::uniform_real_distribution<double> any(500, 5000);
	for (PhasePair &pair : both)
		for (PhasePart *part : {&pair.without, &pair.with})
			part->progress[EDC_PROGRESS_FAULTS] = any(random);
	CHECK(share_of_phases(both)->median == Approx(0.3).margin(0.02));
}

TEST_CASE("pilot: no counter, too few phases or too little CPU time say nothing")
{
	CHECK(!share_of_phases({}));
	CHECK(!share_of_phases(phases(0.3, EDC_PROGRESS_CALLS, 20, 7)));
	CHECK(!share_of_phases(phases(0.3, EDC_PROGRESS_CALLS, 0.01)));
	std::vector<PhasePair> idle = phases(0.3, EDC_PROGRESS_CALLS, 20);
	for (PhasePair &pair : idle)
		pair.without.cpu_ns = pair.with.cpu_ns = 1e5;
	CHECK(!share_of_phases(idle));
}

} // namespace test_paired
