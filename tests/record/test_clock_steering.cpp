// SPDX-License-Identifier: MIT
// The steering of the conversion of the probes' times: against a time stamp counter and a monotonic clock whose true
// relation the test knows, for hours within a moment.
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "base/tsc.h"
#include "faults.h"
#include "recording/rings/clock.h"

namespace test_clock_steering {

using monitor::record::ClockSteering;
using monitor::record::Sync;

namespace {

constexpr std::uint64_t ms = 1'000'000, second = 1'000 * ms;
constexpr std::uint64_t min_ahead_ns = ms; // what probes rely on: no set is published later before it holds

// Ticks by monotonic time: a rate that the test may change, as NTP does. Time goes on as the test says, and by what
// every reading of the clock takes.
struct Machine {
	std::uint64_t ns = 0;
	std::uint64_t since_ns = 0;
	long double since_ticks = 0, ticks_per_ns = 2.7L;
	std::uint64_t reading_ns = 30;
	std::vector<std::uint64_t> stalls; // who reads the clock next is not run for so long then, and so on

	long double ticks_at(std::uint64_t at) const
	{
		return since_ticks + static_cast<long double>(at - since_ns) * ticks_per_ns;
	}
	void change_rate(long double to)
	{
		since_ticks = ticks_at(ns);
		since_ns = ns;
		ticks_per_ns = to;
	}
	std::uint64_t read()
	{
		const std::uint64_t shown = ns += reading_ns;
		if (!stalls.empty()) {
			ns += stalls.front();
			stalls.erase(stalls.begin());
		}
		return shown;
	}
};

Machine *machine;

// A steering on a machine. It is started on this computer's own clocks, whose relation the machine then goes on with.
struct Steered {
	edc_clock clock{};
	Machine truth;
	ClockSteering steering{clock, true};
	std::vector<edc_clock_set> sets; // all that were published
	std::uint64_t ahead_ns = 0;      // real time, of monotonic time

	Steered()
	{
		steering.start(monitor::record::read_sync(true), 5);
		sets = steering.take_published();
		const Sync &from = steering.first(), &to = steering.last();
		truth.ns = truth.since_ns = to.monotonic_ns;
		ahead_ns = to.realtime_ns - to.monotonic_ns;
		truth.since_ticks = static_cast<long double>(to.time);
		truth.ticks_per_ns = static_cast<long double>(to.time - from.time) /
				     static_cast<long double>(to.monotonic_ns - from.monotonic_ns);
		machine = &truth;
		faults::monotonic_ns = [] { return machine->read(); };
	}
	~Steered() { faults::monotonic_ns = nullptr; }

	// A sync so much later. True if it published a set.
	bool sync_after(std::uint64_t wait_ns, long double error_ticks = 0)
	{
		truth.ns += wait_ns;
		Sync sync;
		sync.monotonic_ns = truth.ns;
		sync.time = static_cast<std::uint64_t>(std::llroundl(truth.ticks_at(truth.ns) + error_ticks));
		sync.realtime_ns = truth.ns + ahead_ns;
		steering.update(sync);
		const auto added = steering.take_published();
		sets.insert(sets.end(), added.begin(), added.end());
		return !added.empty();
	}
	// The published function less the truth, in ticks.
	long double error_at(std::uint64_t ns) const
	{
		const edc_clock_set *set = &sets.front();
		for (const edc_clock_set &later : sets)
			if (later.from_ns <= ns)
				set = &later;
		return static_cast<long double>(edc_clock_at(set, ns)) - truth.ticks_at(ns);
	}
	long double slope(const edc_clock_set &set) const { return set.whole + set.frac / 4294967296.0L; }
};

} // namespace

TEST_CASE("clock steering: sets join without a step, ahead of time, and never step back")
{
	const auto it = std::make_unique<Steered>();
	std::mt19937_64 random(1);
	for (int i = 0; i < 3000; ++i) {
		if (i % 40 == 0) // NTP slews by up to 500 millionths
			it->truth.change_rate(it->truth.ticks_per_ns *
					      (1 + (static_cast<long double>(random() % 1001) - 500) / 1e6L));
		const std::uint64_t before = it->sets.size();
		// a sync is seldom in time, and its reading true to its width only
		const bool published =
		    it->sync_after(50 * ms + random() % (100 * ms), static_cast<long double>(random() % 201) - 100);
		REQUIRE(published);
		REQUIRE(it->sets.size() == before + 1);
		const edc_clock_set &last = it->sets[before - 1], &next = it->sets[before];
		REQUIRE(next.from_ns >= it->truth.ns + min_ahead_ns);
		REQUIRE(next.base == edc_clock_at(&last, next.from_ns));
		REQUIRE(it->slope(next) > 0);
	}
}

TEST_CASE("clock steering: the newest set and all that a probe may still need lie where probes look for them")
{
	const auto it = std::make_unique<Steered>();
	for (std::uint64_t i = 1; i < 5 * EDC_CLOCK_SETS; ++i) {
		REQUIRE(it->sync_after(100 * ms));
		REQUIRE(it->clock.newest == i);
		REQUIRE(it->steering.published() == i + 1);
		for (std::uint64_t back = 0; back <= std::min<std::uint64_t>(i, EDC_CLOCK_SETS - 1); ++back) {
			const edc_clock_set &there = it->clock.set[(i - back) % EDC_CLOCK_SETS];
			REQUIRE(there.from_ns == it->sets.at(i - back).from_ns);
			REQUIRE(there.base == it->sets.at(i - back).base);
		}
	}
}

TEST_CASE("clock steering: a recorder that is not run while it publishes does not publish too late")
{
	const auto it = std::make_unique<Steered>();
	for (const std::uint64_t stall : {ms, 2 * ms, 20 * ms, 700 * ms}) {
		it->truth.stalls = {stall, 0, stall, 0};
		REQUIRE(it->sync_after(100 * ms));
		it->truth.stalls.clear();
		const edc_clock_set &last = it->sets[it->sets.size() - 2], &next = it->sets.back();
		CHECK(next.from_ns >= it->truth.ns + min_ahead_ns);
		CHECK(next.base == edc_clock_at(&last, next.from_ns));
	}
}

TEST_CASE("clock steering: no set is published before the one before it holds")
{
	const auto it = std::make_unique<Steered>();
	REQUIRE(it->sync_after(100 * ms));
	CHECK_FALSE(it->sync_after(1 * ms));
	CHECK_FALSE(it->sync_after(1 * ms));
	CHECK(it->sync_after(5 * ms));
}

TEST_CASE("clock steering: it meets the truth, and soon again after the rate has changed")
{
	const auto it = std::make_unique<Steered>();
	const auto run = [&](int syncs) {
		for (int i = 0; i < syncs; ++i)
			it->sync_after(100 * ms);
	};
	const auto worst_of_a_second = [&] {
		long double worst = 0;
		for (int i = 0; i < 10; ++i) {
			it->sync_after(100 * ms);
			for (std::uint64_t back = 0; back < 100 * ms; back += ms)
				worst = std::max(worst, std::fabs(it->error_at(it->truth.ns - back)));
		}
		return worst;
	};
	run(30);
	// Whole ticks: of the sync (half of one), of the set's start and of the result (one each), and of the slope,
	// which half a tick at either end turns by another one until the next set holds; 2^-32 tick per ns of it are
	// 0.05.
	constexpr long double whole_ticks = 4;
	CHECK(worst_of_a_second() < whole_ticks);
	// A change of 100 millionths is seen at the next sync, whole only a second later: until then the function is
	// wrong by less than 300 ms of it.
	const long double changed = it->truth.ticks_per_ns * 100e-6L;
	it->truth.change_rate(it->truth.ticks_per_ns + changed);
	CHECK(worst_of_a_second() < changed * 300 * ms);
	run(30);
	CHECK(worst_of_a_second() < whole_ticks);
}

TEST_CASE("clock steering: a sync far off does not bend the function by more than a thousandth")
{
	const auto it = std::make_unique<Steered>();
	for (int i = 0; i < 20; ++i)
		it->sync_after(100 * ms);
	const long double rate = it->truth.ticks_per_ns;
	for (const long double error : {-0.002L * second * rate, 0.002L * second * rate}) {
		REQUIRE(it->sync_after(100 * ms, error));
		// the measured rate is off by up to 2 ms a second, and the set by a thousandth more
		CHECK(std::fabs(it->slope(it->sets.back()) / rate - 1) < 0.0032L);
		CHECK(it->sets.back().base == edc_clock_at(&it->sets[it->sets.size() - 2], it->sets.back().from_ns));
	}
}

TEST_CASE("clock steering: a day without a new set overflows nothing")
{
	const auto it = std::make_unique<Steered>();
	it->sync_after(100 * ms);
	const std::uint64_t from = it->sets.back().from_ns;
	std::uint64_t before = 0;
	for (std::uint64_t at = from; at < from + 86'400 * second; at += 7'919 * ms) {
		const std::uint64_t time = edc_clock_at(&it->sets.back(), at);
		REQUIRE(time > before);
		before = time;
	}
	// where the product is split otherwise
	for (std::uint64_t d = (1ull << 32) - 5; d < (1ull << 32) + 5; ++d)
		CHECK(edc_clock_at(&it->sets.back(), from + d) <= edc_clock_at(&it->sets.back(), from + d + 1));
	CHECK(std::fabs(it->error_at(from + 86'400 * second)) < it->truth.ticks_per_ns * 86'400 * second * 1e-3L);
	REQUIRE(it->sync_after(86'400 * second));
	CHECK(it->sets.back().base == edc_clock_at(&it->sets[it->sets.size() - 2], it->sets.back().from_ns));
}

TEST_CASE("clock steering: without an invariant counter trace time is monotonic time")
{
	edc_clock clock{};
	ClockSteering steering(clock, false);
	steering.start(monitor::record::read_sync(false), 1);
	CHECK(steering.frequency_hz() == 1e9);
	CHECK(steering.take_published().size() == 1);
	Sync sync = steering.last();
	for (int i = 0; i < 5; ++i) {
		sync.monotonic_ns = sync.time += 100 * ms;
		steering.update(sync);
		CHECK(edc_clock_at(&clock.set[0], sync.monotonic_ns) == sync.time);
	}
	CHECK(steering.take_published().empty());
	CHECK(clock.newest == 0);
}

TEST_CASE("clock steering: each time that the system's clock is set is known, and nothing else is taken for it")
{
	const auto it = std::make_unique<Steered>();
	std::vector<std::int64_t> reported;
	const auto set_by = [&](std::int64_t ns) {
		it->sync_after(100 * ms);
		it->ahead_ns += static_cast<std::uint64_t>(ns);
		it->sync_after(100 * ms);
		if (!it->steering.real_time_steps().empty() &&
		    it->steering.real_time_steps().size() != reported.size()) {
			reported.push_back(it->steering.real_time_steps().back().ns);
			CHECK(it->steering.real_time_steps().back().time == it->steering.last().time);
		}
		it->sync_after(100 * ms);
	};
	set_by(7200'000'000'000);
	set_by(999'999);
	set_by(-1'000'000'000);
	set_by(1'000'000);
	CHECK(reported == std::vector<std::int64_t>{7200'000'000'000, -1'000'000'000, 1'000'000});
	CHECK(it->steering.real_time_steps().size() == 3);
	for (int i = 0; i < 1000; ++i)
		set_by(-2'000'000);
	CHECK(it->steering.real_time_steps().size() == 1000); // a description has an end
}

} // namespace test_clock_steering
