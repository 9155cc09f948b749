// SPDX-License-Identifier: MIT
// What an event costs: rounds to a middle with quartiles (recording/card/rounds.h), and when a recording's cost is
// unknown (reading/cost/probe_cost.h).
#include <vector>

#include <catch2/catch.hpp>

#include "answers/report/summary.h"
#include "reading/analyze/recording_info.h"
#include "reading/cost/probe_cost.h"
#include "recording/card/rounds.h"

namespace test_probe_cost {

using namespace monitor;
using monitor::analyze::CalibratedCost;

namespace {

std::vector<card::Round> rounds_of(const std::vector<double> &costs, double off = 100)
{
	std::vector<card::Round> rounds;
	for (double cost : costs)
		rounds.push_back({off, off + cost, off});
	return rounds;
}

// A recording of 1000 events of a family that cost 50 to 60 ns each, at the start and at the end.
analyze::RecordingInfo recording()
{
	analyze::RecordingInfo info;
	info.present = true;
	info.state = "complete";
	analyze::ClassCounts calls;
	calls.family = "syscall";
	calls.seen = 1000;
	info.classes = {calls};
	const CalibratedCost cost{50, 55, 60, 0.01, 21};
	info.calibration.emplace();
	info.calibration->start["syscall"] = cost;
	info.calibration->end.emplace();
	(*info.calibration->end)["syscall"] = cost;
	return info;
}

std::string why_unknown(const analyze::RecordingInfo &info)
{
	const cost::ProbeCost cost = cost::probe_cost(info);
	CHECK(cost.median_ns.has_value() == cost.why_unknown.empty());
	CHECK(cost.high_ns.has_value() == cost.median_ns.has_value());
	return cost.why_unknown;
}

} // namespace

TEST_CASE("calibration: a part of a recording costs at least what its own events do")
{
	analyze::RecordingInfo info = recording();
	const double whole = cost::probe_cost(info).low_ns.value();
	info.classes[0].filtered = 500; // when is not known
	const std::vector<std::uint64_t> tenth = {100};
	CHECK(cost::min_cost(info, tenth).value() == Approx(whole / 10));
	CHECK(cost::min_cost(info, {}).value() == 0);
}

TEST_CASE("calibration: the middle of the rounds and their quartiles, per event")
{
	const CalibratedCost odd = card::estimate(rounds_of({10, 2, 8, 4, 6}), 2);
	CHECK(odd.low == 2);
	CHECK(odd.median == 3);
	CHECK(odd.high == 4);
	CHECK(odd.rounds == 5);
	const CalibratedCost even = card::estimate(rounds_of({1, 2, 3, 4}), 1);
	CHECK(even.low == 1.75);
	CHECK(even.median == 2.5);
	CHECK(even.high == 3.25);
	CHECK(card::estimate(rounds_of({7}), 1).median == 7);
	CHECK(card::estimate({}, 1).rounds == 0);
}

TEST_CASE("calibration: one round that was disturbed does not move the middle")
{
	std::vector<double> costs(21, 50.0);
	costs[7] = 1e6;
	const CalibratedCost estimate = card::estimate(rounds_of(costs), 1);
	CHECK(estimate.low == 50);
	CHECK(estimate.median == 50);
	CHECK(estimate.high == 50);
}

TEST_CASE("calibration: a machine that changes its speed steadily costs the probes nothing")
{
	std::vector<card::Round> rounds;
	for (int i = 0; i < 21; ++i) {
		const double speed = 1 + i * 0.02;
		rounds.push_back({100 * speed, 150 * (speed + 0.01), 100 * (speed + 0.02)});
	}
	const CalibratedCost estimate = card::estimate(rounds, 1);
	CHECK(estimate.median == Approx(50 * 1.21));
	CHECK(estimate.off_difference == Approx(0.02 / 1.21));
}

TEST_CASE("calibration: a negative result stays negative")
{
	const CalibratedCost estimate = card::estimate(rounds_of({-8, -4, -6}), 2);
	CHECK(estimate.median == -3);
	CHECK(estimate.low == -3.5);
}

TEST_CASE("calibration: how far the two times without probes lie apart")
{
	CHECK(card::estimate({{90, 200, 110}}, 1).off_difference == Approx(0.2));
	CHECK(card::estimate({{110, 200, 90}}, 1).off_difference == Approx(0.2));
	CHECK(card::estimate({{0, 0, 0}}, 1).off_difference == 0);
	// a round that is off by itself moves the quartiles, not this
	CHECK(card::estimate({{90, 200, 110}, {110, 200, 90}, {100, 200, 100}}, 1).off_difference == 0);
}

TEST_CASE("probe cost: a range from the lower quartile to the upper one, of start and end")
{
	analyze::RecordingInfo info = recording();
	info.calibration->end->at("syscall") = {52, 57, 66, 0.01, 21};
	const cost::ProbeCost cost = cost::probe_cost(info);
	CHECK(cost.why_unknown.empty());
	CHECK(cost.when.empty());
	CHECK(*cost.low_ns == 50'000);
	CHECK(*cost.median_ns == 56'000);
	CHECK(*cost.high_ns == 66'000);
}

TEST_CASE("probe cost: unknown where the machine was too restless to measure")
{
	analyze::RecordingInfo info = recording();
	info.calibration->start.at("syscall").off_difference = 0.051;
	CHECK(why_unknown(info) == "syscall: the calibration's loops without probes differ by 5 %");
	info = recording();
	info.calibration->end->at("syscall").off_difference = 0.3;
	CHECK(why_unknown(info) == "syscall: the calibration's loops without probes differ by 30 %");
	info.calibration->end->at("syscall").off_difference = 0.05;
	CHECK(why_unknown(info).empty());
}

TEST_CASE("probe cost: unknown where the result is negative")
{
	analyze::RecordingInfo info = recording();
	info.calibration->start.at("syscall") = {-9, -2, 55, 0.01, 21};
	CHECK(why_unknown(info) == "syscall: the calibration's result was negative (-2.0 ns per event)");
	CHECK(!cost::probe_cost(info).low_ns);
	info.calibration->start.at("syscall") = {-9, 0.5, 55, 0.01, 21};
	CHECK(why_unknown(info).empty());
	CHECK(*cost::probe_cost(info).low_ns == 0);
}

TEST_CASE("probe cost: unknown where start and end disagree")
{
	analyze::RecordingInfo info = recording();
	info.calibration->end->at("syscall") = {70, 75, 80, 0.01, 21};
	CHECK(why_unknown(info) ==
	      "syscall: the calibrations at the start and at the end differ: 55.0 and 75.0 ns per event");
	info.calibration->end->at("syscall") = {59, 75, 80, 0.01, 21}; // the quartiles overlap
	CHECK(why_unknown(info).empty());
	info.calibration->start.at("syscall") = {55, 55, 55, 0.01, 21};
	info.calibration->end->at("syscall") = {57, 57, 57, 0.01, 21}; // they do not, but 3.6 % is near
	CHECK(why_unknown(info).empty());
}

TEST_CASE("probe cost: the least is known where the calibration contradicts itself, too")
{
	analyze::RecordingInfo info = recording();
	info.calibration->start.at("syscall") = {40, 55, 60, 0.3, 21};
	info.calibration->end->at("syscall") = {90, 95, 99, 0.01, 21};
	CHECK(!why_unknown(info).empty());
	CHECK(*cost::probe_cost(info).low_ns == 40'000);
	info.calibration->start["sched"] = info.calibration->end.value()["sched"] = {30, 90, 100, 0.01, 21};
	info.classes[0].family = "irq"; // was not measured: not less than the cheapest
	CHECK(*cost::probe_cost(info).low_ns == 30'000);
	for (auto *costs : {&info.calibration->start, &*info.calibration->end})
		costs->at("syscall").rounds = costs->at("sched").rounds = 20;
	CHECK(!cost::probe_cost(info).low_ns);
	CHECK(why_unknown(info) == "irq: there was no time to calibrate");
}

TEST_CASE("probe cost: what was not measured costs what the dearest family does")
{
	analyze::RecordingInfo info = recording();
	info.classes[0].family = "irq";
	const CalibratedCost dear{80, 90, 100, 0.01, 21};
	info.calibration->start["sched"] = info.calibration->end.value()["sched"] = dear;
	CHECK(*cost::probe_cost(info).median_ns == 90'000);
	info.calibration->start["sched"].rounds = 20; // too few are none
	CHECK(*cost::probe_cost(info).median_ns == 90'000);
	info.calibration->end.value()["sched"].rounds = 20;
	CHECK(*cost::probe_cost(info).median_ns == 55'000);
	info.calibration->start.clear();
	info.calibration->end->clear();
	CHECK(why_unknown(info) == "irq: there was no time to calibrate");
}

TEST_CASE("probe cost: what has no events need not be known; counters are in the switch")
{
	analyze::RecordingInfo info = recording();
	info.calibration->start["fault"] = {-9, -2, 1, 0.5, 21};
	CHECK(why_unknown(info).empty());
	analyze::ClassCounts counters;
	counters.family = "counters";
	counters.seen = 1000;
	info.classes.push_back(counters);
	CHECK(*cost::probe_cost(info).median_ns == 55'000);
}

TEST_CASE("probe cost: rejected events cost what rejecting costs")
{
	analyze::RecordingInfo info = recording();
	info.classes[0].filtered = 400;
	const CalibratedCost cheap{8, 10, 12, 0.01, 21};
	info.calibration->start["rejected"] = info.calibration->end.value()["rejected"] = cheap;
	CHECK(*cost::probe_cost(info).median_ns == 600 * 55 + 400 * 10);
}

TEST_CASE("probe cost: discarded events cost what discarding costs, or as much as others if that is unknown")
{
	analyze::RecordingInfo info = recording();
	info.classes[0].discarded = 400;
	CHECK(*cost::probe_cost(info).median_ns == 1000 * 55);
	const CalibratedCost measured{38, 40, 42, 0.01, 21};
	info.calibration->start["discarded"] = info.calibration->end.value()["discarded"] = measured;
	CHECK(*cost::probe_cost(info).median_ns == 600 * 55 + 400 * 40);
	info.classes[0].discarded = 4000; // of an untrusted file
	CHECK(*cost::probe_cost(info).median_ns == 1000 * 40);
}

TEST_CASE("probe cost: a sample costs its interrupt, also if it is only counted")
{
	analyze::RecordingInfo info = recording();
	info.classes[0].family = "sample";
	info.classes[0].filtered = 1000;
	const CalibratedCost dear{900, 1000, 1100, 0.01, 21};
	info.calibration->start["sample"] = info.calibration->end.value()["sample"] = dear;
	CHECK(*cost::probe_cost(info).median_ns == 1000 * 1000);
}

TEST_CASE("probe cost: where the end could not be calibrated the start says it, and so does the summary")
{
	analyze::RecordingInfo info = recording();
	info.calibration->end.reset();
	const cost::ProbeCost cost = cost::probe_cost(info);
	CHECK(*cost.median_ns == 55'000);
	CHECK(cost.when == "at the start only");
}

TEST_CASE("probe cost: a figure that was kept, with its check, or with what replaced it")
{
	analyze::RecordingInfo info = recording();
	analyze::Calibration &calibration = *info.calibration;
	calibration.end->at("syscall") = {48, 58, 62, 0.01, 9};
	CHECK(*cost::probe_cost(info).low_ns == 50'000); // so few rounds are no calibration
	calibration.kept.emplace();
	const cost::ProbeCost checked = cost::probe_cost(info);
	CHECK(*checked.low_ns == 48'000);
	CHECK(*checked.median_ns == 56'500);
	CHECK(*checked.high_ns == 62'000);
	CHECK(checked.when == "kept, checked at the end");
	calibration.end.reset();
	CHECK(cost::probe_cost(info).when == "kept, not checked");
	calibration.kept->checked_at_start = true;
	CHECK(cost::probe_cost(info).when == "kept, checked at the start");
	calibration.kept.reset();
	calibration.end = std::exchange(calibration.start, {});
	const cost::ProbeCost replaced = cost::probe_cost(info);
	CHECK(*replaced.median_ns == 55'000);
	CHECK(replaced.when == "at the end only");
}

TEST_CASE("probe cost: a range of real code, where the recording has its factors")
{
	analyze::RecordingInfo info = recording();
	info.calibration->factors = {{"syscall", {1.2, 1.6}}, {"other", {2, 3}}};
	const cost::ProbeCost calls = cost::probe_cost(info);
	CHECK(calls.is_of_real_code);
	CHECK(*calls.low_ns == Approx(66'000));
	CHECK(*calls.median_ns == 55'000);
	CHECK(*calls.high_ns == Approx(88'000));
	analyze::RecordingInfo lossy = info; // the same code meets what is discarded
	lossy.classes[0].discarded = 400;
	lossy.calibration->start["discarded"] = lossy.calibration->end.value()["discarded"] = {38, 40, 42, 0.01, 21};
	CHECK(*cost::probe_cost(lossy).high_ns == Approx((600 * 55 + 400 * 40) * 1.6));
	info.classes[0].family = "irq"; // was not measured in loops, and has no factor of its own
	CHECK(*cost::probe_cost(info).high_ns == Approx(165'000));
	info.judgements = {{0, 10}}; // is measured as it is
	CHECK(*cost::probe_cost(info).low_ns == Approx(120'000));
	info.calibration->end->at("syscall").off_difference = 0.3; // then it is the least, in loops
	CHECK(!cost::probe_cost(info).is_of_real_code);
	CHECK(*cost::probe_cost(info).low_ns == Approx(60'000));
}

TEST_CASE("probe cost: factors that cannot be true are not used, nor beside what the command itself said")
{
	for (const analyze::CodeFactors &factors :
	     {analyze::CodeFactors{{"syscall", {1.2, 1.6}}}, analyze::CodeFactors{{"other", {0, 1}}},
	      analyze::CodeFactors{{"other", {2, 1}}}, analyze::CodeFactors{{"other", {1, 1e9}}}}) {
		analyze::RecordingInfo info = recording();
		info.calibration->factors = factors;
		CHECK(!cost::probe_cost(info).is_of_real_code);
		CHECK(*cost::probe_cost(info).low_ns == 50'000);
	}
	analyze::RecordingInfo info = recording();
	info.calibration->factors = {{"other", {2, 3}}};
	info.calibration->phases = analyze::PhaseCost{.low = 60, .median = 66, .high = 72, .used = 12};
	CHECK(!cost::probe_cost(info).is_of_real_code);
	CHECK(*cost::probe_cost(info).high_ns == Approx(72'000));
}

TEST_CASE("probe cost: of a recording that has one figure per family")
{
	analyze::RecordingInfo info = recording();
	info.calibration.reset();
	CHECK(why_unknown(info) == "it was not calibrated");
	info.cost_ns = {{"syscall", 40.0}, {"sched", 0.0}};
	const cost::ProbeCost cost = cost::probe_cost(info);
	CHECK(*cost.low_ns == 40'000);
	CHECK(*cost.high_ns == 40'000);
	CHECK(cost.when == "at the start only");
}

TEST_CASE("probe cost: recording.json, damaged or not")
{
	const auto parsed = [](const std::string &calibration) {
		return analyze::parse_recording(R"({"calibration": )" + calibration + "}").calibration;
	};
	const auto whole = parsed(R"({"start": {"sched": {"low": 1, "median": 2, "high": 3, "off_difference": 0.01,
		"rounds": 21}}, "end": {"sched": {"median": "x", "rounds": -1}}})");
	REQUIRE(whole);
	CHECK(whole->start.at("sched").high == 3);
	CHECK(whole->start.at("sched").rounds == 21);
	CHECK(whole->end.value().at("sched").rounds == 0);
	CHECK(!parsed(R"({"start": 7, "end": {"why_not": "no privilege"}})")->end);
	CHECK(!parsed("[]"));
}

TEST_CASE("summary: the range of the probes' cost, what it rests on, or why it is unknown")
{
	report::Summary summary;
	summary.complete = true;
	summary.lost = 0;
	summary.wall_ns = 1e9;
	summary.recorder_cpu_ns = 5e6;
	summary.probes = cost::probe_cost(recording());
	CHECK(report::summary_text(summary) ==
	      "0 tokens, lost 0, clock bound unknown; cost: recorder 5.00 ms = 0.50 % of one CPU, probes at least "
	      "50.00 us = 0.01 % of one CPU (loops)");
	summary.clock_bound_ns = 94;
	CHECK(report::summary_text(summary).find("clock bound 94 ns; cost") != std::string::npos);
	CHECK(report::summary_json(summary).find("left_out") == std::string::npos);
	summary.left_out = {"softirq_entry"};
	summary.unknown = "softirqs were left out";
	CHECK(report::summary_text(summary).ends_with("(loops)\nsoftirqs were left out"));
	CHECK(report::summary_json(summary).find(R"("left_out":["softirq_entry"])") != std::string::npos);
	summary.unknown.clear();
	summary.clocks_not_compared = 3;
	summary.cpus_online = 4;
	CHECK(report::summary_text(summary).find("clock bound 94 ns on 1 of 4 CPUs; cost") != std::string::npos);
	CHECK(report::summary_json(summary).find(R"("clocks_not_compared":3)") != std::string::npos);
	summary.probes->when = "at the start only";
	CHECK(report::summary_text(summary).ends_with("of one CPU (loops, at the start only)"));
	CHECK(report::summary_json(summary).find(R"("probes_cpu_ns_low":50000.0)") != std::string::npos);
	CHECK(report::summary_json(summary).find("probes_of_real_code") == std::string::npos);
	summary.probes = cost::ProbeCost{3e7, 2e7, 4e7, {}, 0, {}, {}, true};
	CHECK(report::summary_text(summary).ends_with("probes 30.00 ms to 40.00 ms = 3.00 to 4.00 % of one CPU"));
	CHECK(report::summary_json(summary).find(R"("probes_of_real_code":true)") != std::string::npos);
	summary.probes = cost::ProbeCost{{}, {}, {}, "because", 0, {}, {}};
	CHECK(report::summary_text(summary).ends_with("probes unknown (because)"));
	CHECK(report::summary_json(summary).find(R"("probes_unknown":"because")") != std::string::npos);
	summary.probes.reset();
	CHECK(report::summary_text(summary).ends_with("probes unknown"));
}

TEST_CASE("calibration: phases without probes say what an event of the command costs, instead of the loops")
{
	analyze::RecordingInfo info = recording();
	analyze::PhaseCost phases;
	phases.low = 60;
	phases.median = 66;
	phases.high = 72;
	phases.used = phases.number = 12;
	phases.events = {{"syscall", 500}};
	info.calibration->phases = phases;
	const cost::ProbeCost cost = cost::probe_cost(info);
	CHECK(cost.low_ns.value() == Approx(60'000));
	CHECK(cost.median_ns.value() == Approx(66'000));
	CHECK(cost.high_ns.value() == Approx(72'000));
	CHECK(cost.phases == 12);
	// How the families differ is known from the loops only: here a switch costs twice as much as a call.
	for (analyze::CalibratedCosts *costs : {&info.calibration->start, &*info.calibration->end})
		(*costs)["sched"] = {100, 110, 120, 0.01, 21};
	info.calibration->phases->events = {{"syscall", 500}, {"sched", 500}};
	CHECK(cost::event_cost(*info.calibration, "syscall").median == Approx(44));
	CHECK(cost::event_cost(*info.calibration, "sched").median == Approx(88));
	CHECK(cost::event_cost(*info.calibration, "sched").high == Approx(96));
	// Loops that contradict themselves say nothing of that.
	info.calibration->start["syscall"].off_difference = 0.5;
	CHECK(cost::event_cost(*info.calibration, "sched").median == Approx(66));
	CHECK(why_unknown(info).empty());
	// Phases that do not know leave it to the loops.
	info = recording();
	info.calibration->phases = phases;
	info.calibration->phases->why_unknown = "there were too few";
	const cost::ProbeCost without = cost::probe_cost(info);
	CHECK(without.median_ns.value() == Approx(55'000));
	CHECK(without.phases == 0);
	CHECK(without.why_not_in_command == "there were too few");
}

} // namespace test_probe_cost
