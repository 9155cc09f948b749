// SPDX-License-Identifier: MIT
// The relation of two clocks from exchanges: the truth is inside the bounds, or the window says that it has no line.
#include <catch2/catch.hpp>

#include "answers/collection/clock_lines.h"
#include "answers/collection/feasible_lines.h"
#include "clock_history.h"

namespace test_clock_lines {

using namespace monitor;
using namespace clock_history;
using collection::ClockLines;
using trace::ClockMap;

namespace {

constexpr double run_s = 200;

struct Judged {
	std::uint64_t windows = 0, infeasible = 0, inside = 0, outside = 0, unknown = 0, beyond = 0;
	std::uint64_t max_bound_ns = 0, rho_ppb = 0;

	void add(const Judged &other)
	{
		windows += other.windows;
		infeasible += other.infeasible;
		inside += other.inside;
		outside += other.outside;
		unknown += other.unknown;
		max_bound_ns = std::max(max_bound_ns, other.max_bound_ns);
		rho_ppb = std::max(rho_ppb, other.rho_ppb);
	}
};

ClockLines lines_of(const std::vector<fleet::ClockExchange> &exchanges, const collection::LineOptions &options)
{
	fleet::ClockExchanges all;
	all.all = exchanges;
	return collection::lines_of(all.samples(), options);
}

// Some instants in each window against what the clocks showed then.
Judged judge(std::mt19937_64 &random, const Clocks &clocks, const ClockLines &lines, std::uint64_t frequency_hz)
{
	const char *why = nullptr;
	Judged judged{lines.windows, lines.infeasible};
	judged.max_bound_ns = lines.max_bound_ns();
	judged.rho_ppb = lines.rho_ppb;
	const auto map = ClockMap::make(lines.nodes, lines.bounds_ns, frequency_hz, why);
	INFO((why ? why : ""));
	REQUIRE(map);
	std::uniform_real_distribution<double> step(0, 0.2);
	for (double s = 0.02; s < run_s - 0.2; s += step(random)) {
		const std::uint64_t ticks = clocks.ticks(s), mapped = map->map(ticks);
		if (ticks < lines.nodes.front().ticks || ticks > lines.nodes.back().ticks) {
			++judged.beyond;
			continue;
		}
		const auto truth = static_cast<std::uint64_t>(clocks.ns(s));
		const auto bound = map->bound_at(mapped);
		const std::uint64_t off = mapped > truth ? mapped - truth : truth - mapped;
		judged.unknown += !bound;
		judged.inside += bound && off <= *bound;
		judged.outside += bound && off > *bound;
	}
	return judged;
}

Judged simulate(std::uint64_t seed, const Wander &wander, const Delays &delays,
		std::uint64_t frequency_hz = 2'999'999'123)
{
	std::mt19937_64 random(seed);
	const Clocks clocks(random, wander, run_s, frequency_hz);
	collection::LineOptions options;
	options.frequency_hz = frequency_hz;
	return judge(random, clocks, lines_of(exchanges(random, clocks, delays, run_s), options), frequency_hz);
}

const Delays fast, one_sided{5, 300, 5}, slow{100, 2000, 2000}, rare{10, 20, 20, 1500};

} // namespace

TEST_CASE("clock lines: a polygon of lines is cut down to those that keep every constraint")
{
	collection::FeasibleLines lines({-100, 100}, {-10, 10});
	lines.at_most(5, 10);    // value + 5 slope <= 10
	lines.at_least(-5, -10); // value - 5 slope >= -10
	CHECK(lines.values().max == Approx(60));
	CHECK(lines.values().min == Approx(-60));
	CHECK(lines.slopes().max == Approx(2));
	CHECK(lines.slopes().min == Approx(-10));
	lines.at_most(0, 7);
	CHECK(lines.values().max == Approx(7));
	lines.at_least(0, 7);
	CHECK(lines.values().min == Approx(7));
	REQUIRE_FALSE(lines.is_empty());
	lines.at_least(0, 7.5);
	CHECK(lines.is_empty());
	CHECK(collection::FeasibleLines({1, 0}, {-1, 1}).is_empty());
}

TEST_CASE("clock lines: the truth is inside in all of 10,000 windows of clocks that drift and wander")
{
	Judged all;
	std::uint64_t seed = 1;
	for (const double rate_ppm : {0.0, 25.0, -80.0, 190.0})
		for (const Delays &delays : {fast, one_sided, slow, rare})
			for (const Wander &wander : {Wander{rate_ppm, 0}, Wander{rate_ppm, 2, 0.5},
						     Wander{rate_ppm, 2, 20}, Wander{rate_ppm, 1.9, 3}})
				all.add(simulate(seed++, wander, delays));
	INFO("inside " << all.inside << ", unknown " << all.unknown << ", bound " << all.max_bound_ns);
	CHECK(all.windows > 10'000);
	CHECK(all.infeasible == 0);
	CHECK(all.unknown == 0);
	CHECK(all.outside == 0);
	CHECK(all.rho_ppb == collection::LineOptions::default_rho_ppb);
}

TEST_CASE("clock lines: bounds are as narrow as the delays allow")
{
	CHECK(simulate(1, {25, 0}, fast).max_bound_ns < 30'000);
	CHECK(simulate(2, {25, 2, 1}, fast).max_bound_ns < 30'000);
	CHECK(simulate(3, {25, 0}, one_sided).max_bound_ns < 120'000); // half of the least delays' sum, and wander
	CHECK(simulate(4, {25, 0}, slow).max_bound_ns < 1'000'000);
	CHECK(simulate(5, {25, 0}, slow).max_bound_ns > 100'000);
}

TEST_CASE("clock lines: between exact exchanges a rate that changes bends the line")
{
	std::mt19937_64 random(6);
	const Clocks clocks(random, {0, 2, 1e9}, run_s / 4, 1'000'000'000);
	std::vector<fleet::ClockExchange> all;
	for (double sent = 0.01; sent < run_s / 4 - 1; sent += 1)
		all.push_back(
		    {clocks.ticks(sent), clocks.ns(sent + 1e-8), clocks.ns(sent + 1e-8), clocks.ticks(sent + 2e-8)});
	const Judged judged = judge(random, clocks, lines_of(all, {}), 1'000'000'000);
	CHECK(judged.inside > 200);
	CHECK(judged.outside == 0);
	CHECK(judged.max_bound_ns < 2'000);
}

TEST_CASE("clock lines: a clock that steps has windows without a line, and the truth inside everywhere else")
{
	struct Case {
		double host_s, reference_s;
		bool knows_most; // otherwise only what came before, or after
	};
	std::uint64_t seed = 1000;
	for (const auto &[host_s, reference_s, knows_most] :
	     {Case{3600, 0, true}, Case{-3600, 0, false}, Case{0, 3600, true}, Case{0, -3600, false},
	      Case{0.01, 0, true}, Case{-2, 0, true}, Case{-0.01, 0, true}, Case{0, 0.01, true}})
		for (const double at_s : {20.0, 99.97, 131.313})
			for (const Delays &delays : {fast, slow, rare}) {
				const auto judged = simulate(seed++, {25, 1, 2, at_s, host_s, reference_s}, delays);
				INFO("host " << host_s << " s, reference " << reference_s << " s at " << at_s
					     << ": inside " << judged.inside << ", unknown " << judged.unknown
					     << ", infeasible " << judged.infeasible << " of " << judged.windows);
				CHECK(judged.outside == 0);
				CHECK(judged.infeasible > 0);
				CHECK(judged.inside > (knows_most ? judged.unknown * 5 : 100));
			}
}

TEST_CASE("clock lines: a clock that steps there and back has no bound in between")
{
	std::uint64_t seed = 2000;
	for (const double after_s : {0.3, 0.9, 3.0})
		for (const double step_s : {0.01, -0.01}) {
			for (const auto &judged : {simulate(seed, {25, 1, 2, 99.9, step_s, 0, after_s}, fast),
						   simulate(seed + 1, {25, 1, 2, 99.9, 0, step_s, after_s}, fast)}) {
				INFO(step_s << " s for " << after_s << " s: unknown " << judged.unknown);
				CHECK(judged.outside == 0);
				CHECK(judged.infeasible > 0);
				CHECK(judged.inside > 1500);
			}
			seed += 2;
		}
}

TEST_CASE("clock lines: a step while messages go one way only is noticed by the rate")
{
	for (const bool steps_host : {true, false}) {
		std::mt19937_64 random(9);
		const Wander wander{25, 1, 2, 100, steps_host ? 3600.0 : 0, steps_host ? 0 : 3600.0};
		const Clocks clocks(random, wander, run_s, 1'000'000'000);
		fleet::ClockExchanges all;
		all.all = exchanges(random, clocks, fast, run_s);
		collection::ClockSamples samples = all.samples();
		const std::uint64_t from = clocks.ticks(60), to = clocks.ticks(140);
		std::erase_if(steps_host ? samples.at_most : samples.at_least,
			      [&](const auto &sample) { return sample.ticks > from && sample.ticks < to; });
		const auto judged = judge(random, clocks, collection::lines_of(samples, {}), 1'000'000'000);
		CHECK(judged.outside == 0);
		CHECK(judged.unknown > 100);
		CHECK(judged.inside > 800);
	}
}

TEST_CASE("clock lines: a rate that changes faster than assumed raises rho")
{
	const auto judged = simulate(7, {0, 20, 3}, fast);
	CHECK(judged.rho_ppb > 10'000);
	CHECK(judged.outside == 0);
	CHECK(judged.inside > 1000);
}

TEST_CASE("clock lines: clocks of few or many ticks, and times beyond the exchanges")
{
	for (const std::uint64_t frequency_hz : {1'000ull, 1'000'000'000ull, 100'000'000'000ull}) {
		const auto judged = simulate(frequency_hz, {50, 2, 5}, fast, frequency_hz);
		CHECK(judged.outside == 0);
		CHECK(judged.infeasible == 0);
	}
	std::mt19937_64 random(5);
	const Clocks clocks(random, {-30, 2, 4}, run_s, 1'000'000'000);
	auto some = exchanges(random, clocks, fast, run_s);
	some.erase(some.begin() + static_cast<std::ptrdiff_t>(some.size() * 3 / 4), some.end());
	some.erase(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(some.size() / 3));
	collection::LineOptions options;
	CHECK(judge(random, clocks, lines_of(some, options), 1'000'000'000).beyond > 500);
	options.cover = {clocks.ticks(0), clocks.ticks(run_s)};
	const auto judged = judge(random, clocks, lines_of(some, options), 1'000'000'000);
	CHECK(judged.unknown + judged.beyond == 0);
	CHECK(judged.outside == 0);
	CHECK(judged.max_bound_ns > 100'000); // at the far ends
}

TEST_CASE("clock lines: nothing is invented where nothing is known")
{
	CHECK(collection::lines_of({}, {}).nodes.empty());
	collection::ClockSamples one_way;
	for (std::uint64_t i = 0; i < 100; ++i)
		one_way.at_most.push_back({i * 1'000'000, static_cast<std::int64_t>(i * 1'000'000 + 5000)});
	const auto made = collection::lines_of(one_way, {});
	CHECK(made.nodes.empty());
	CHECK(made.bounds_ns.empty());
	CHECK_FALSE(made.has_bound());
	CHECK(made.max_bound_ns() == 0);

	collection::ClockSamples one{{{1000, 5'000'010}}, {{1000, 5'000'000}}};
	const auto at_once = collection::lines_of(one, {});
	REQUIRE(at_once.nodes.size() > 1);
	CHECK(at_once.nodes[0].ns > 4'999'990);
	CHECK(at_once.nodes[0].ns < 5'000'020);
	CHECK_FALSE(at_once.bounds_ns.front());
	CHECK_FALSE(at_once.bounds_ns.back());
}

} // namespace test_clock_lines
