// SPDX-License-Identifier: MIT
// What plan -- CMD answers from its measurements (recording/pilot/pilot_result.h).
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "recording/pilot/pilot_result.h"

namespace test_pilot_result {

using namespace monitor::pilot;
using Catch::Matchers::Contains;
using monitor::recording_file::CalibratedCosts;
using monitor::recording_file::CodeFactors;

namespace {

const CalibratedCosts loops = {{"syscall", {90, 100, 110, 0, 22}}, {"sched", {190, 200, 210, 0, 22}}};

PilotResult counted(const CountedEvents &events, const CalibratedCosts &costs = loops, const CodeFactors &factors = {})
{
	PilotResult result;
	use_cost_in_loops(result, events, costs, factors);
	return result;
}

} // namespace

TEST_CASE("pilot: runs in which events were lost are left out, and counted")
{
	const PilotResult whole = result_of_runs({{100, 110}, {200, 240}, {100, 115}});
	CHECK(text_of(whole) == "probes 10 to 20 % of CMD's CPU time (A/B, 3 pairs)");
	const PilotResult partly = result_of_runs({{100, 110}, {200, 201, 1}, {200, 240}, {300, 300, 7}, {100, 115}});
	CHECK(partly.pairs == 3);
	CHECK(partly.lossy_pairs == 2);
	CHECK(partly.low == whole.low);
	CHECK(partly.high == whole.high);
	CHECK(partly.cpu_ns == 100.);
	CHECK(text_of(partly) ==
	      "probes 10 to 20 % of CMD's CPU time (A/B, 3 pairs; 2 in which events were lost left out)");
	CHECK(json_of(partly)["lossy_pairs"] == 2);
}

TEST_CASE("pilot: too few runs without loss give no figure, but the reason")
{
	const PilotResult lossy = result_of_runs({{100, 110}, {200, 201, 1}, {200, 240}, {300, 300, 7}});
	CHECK_FALSE(lossy.low);
	CHECK_THAT(text_of(lossy), Contains("unknown (events were lost in 2 of 4 pairs"));
	const nlohmann::ordered_json json = json_of(lossy);
	for (const char *figure : {"low_percent", "percent", "high_percent", "cpu_ns"})
		CHECK(json[figure].is_null());
	CHECK_THAT(text_of(result_of_runs({{0, 0}, {0, 0}, {0, 0}})), Contains("less CPU time than can be measured"));
}

TEST_CASE("pilot: phases in which events were lost are left out")
{
	PhasePair phase{{20e6, {}, 0}, {30e6, {}, 0}};
	phase.without.progress[EDC_PROGRESS_CALLS] = phase.with.progress[EDC_PROGRESS_CALLS] = 1000;
	std::vector<PhasePair> phases(16, phase);
	phase.with.cpu_ns = 20e6; // a full ring
	phase.lost = 1;
	phases.insert(phases.end(), 48, phase);
	const PilotResult result = result_of_phases(phases);
	CHECK(result.pairs == 16);
	CHECK(result.lossy_pairs == 48);
	CHECK(*result.cpu_ns == 16 * 20e6);
	REQUIRE(result.median);
	CHECK(*result.median == Approx(.5));
	CHECK_FALSE(result_of_phases({48, phase}).low);
}

TEST_CASE("pilot: events that are counted cost what loops say, unless some are lost")
{
	const PilotResult result = counted({{{"syscall", 1000}, {"irq", 500}}, 1'200'000., 0});
	CHECK(*result.low == Approx(.2)); // an unmeasured family costs as much as the most expensive one: 200 us in all
	CHECK_FALSE(result.high);
	CHECK(text_of(result) == "probes at least 20 % of CMD's CPU time (loops)");
	const CodeFactors factors = {{"syscall", {1, 2}}, {"other", {1, 3}}};
	CHECK(*counted({{{"syscall", 1000}, {"irq", 500}}, 1'500'000., 0}, loops, factors).high == Approx(.5));
	const PilotResult lossy = counted({{{"syscall", 1000}}, 1'200'000., 3});
	CHECK_FALSE(lossy.low);
	CHECK_THAT(text_of(lossy), Contains("unknown (events were lost while they were counted"));
}

TEST_CASE("pilot: an unknown cost in loops, or CPU time, is no 0 %")
{
	const CountedEvents events{{{"syscall", 1000}}, 1'200'000., 0};
	for (const CalibratedCosts &costs : {CalibratedCosts(), CalibratedCosts{{"syscall", {-9, -5, 2, 0, 22}}},
					     CalibratedCosts{{"syscall", {0, 0, 0, 0, 0}}}}) {
		const PilotResult result = counted(events, costs);
		CHECK(json_of(result)["low_percent"].is_null());
		CHECK_THAT(text_of(result), Contains("unknown (the cost of an event"));
	}
	const PilotResult untimed = counted({{{"syscall", 1000}}, {}, 0});
	CHECK(json_of(untimed)["cpu_ns"].is_null());
	CHECK_THAT(text_of(untimed), Contains("unknown (the kernel does not report"));
	CHECK(text_of(counted({{}, 1e9, 0}, {})) == "probes at least 0.0 % of CMD's CPU time (loops)"); // it had none
}

} // namespace test_pilot_result
