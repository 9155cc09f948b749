// SPDX-License-Identifier: MIT
// What phases without probes say an event costs: from phases of which the cost is known.
#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "recording/calibration/phase_estimate.h"

namespace test_phase_estimate {

using namespace monitor::record;

namespace {

// A program whose steps take 1 us and 3 events each, on a machine that changes its speed.
class Program {
public:
	explicit Program(unsigned seed, double cost_ns) : random_(seed), cost_ns_(cost_ns) {}

	std::vector<Phase> phases(std::size_t number)
	{
		std::vector<Phase> phases;
		for (std::size_t i = 0; i < number; ++i) {
			speed_ = std::exp(normal_(random_) * 0.05);
			phases.push_back({part(true), part(false), part(true)});
		}
		return phases;
	}

private:
	PhasePart part(bool with_probes)
	{
		const double steps = std::uniform_real_distribution<double>(5'000, 25'000)(random_);
		const double events = with_probes ? 3 * steps : 0;
		// Now and then something else disturbs.
		const double disturbed = std::bernoulli_distribution(0.05)(random_) ? 1.3 : 1;
		const double noise = std::exp(normal_(random_) * 0.02) * disturbed;
		PhasePart made;
		made.cpu_ns = (steps * 1000 + events * cost_ns_) * speed_ * noise;
		made.progress = {steps, std::floor(steps / 700), 0};
		made.events = events;
		return made;
	}

	std::mt19937 random_;
	std::normal_distribution<double> normal_;
	double cost_ns_, speed_ = 1;
};

} // namespace

TEST_CASE("the interval of phases has the cost in it", "[phases]")
{
	constexpr unsigned cases = 1000;
	constexpr double cost_ns = 60;
	unsigned held = 0, known = 0;
	std::vector<double> medians;
	for (unsigned seed = 1; seed <= cases; ++seed) {
		const std::size_t number = min_phases + seed % 40;
		const PhaseEstimate found = estimate_phases(Program(seed, cost_ns).phases(number));
		known += found.why_unknown.empty();
		held += found.low <= cost_ns && cost_ns <= found.high;
		CHECK(found.low <= found.median);
		CHECK(found.median <= found.high);
		medians.push_back(found.median);
	}
	std::ranges::sort(medians);
	CAPTURE(held, known, medians[cases / 2]);
	CHECK(held >= cases * 85 / 100);
	CHECK(held <= cases * 97 / 100); // or it is wider than it says
	CHECK(known >= cases * 9 / 10);
	CHECK(medians[cases / 2] == Approx(cost_ns).epsilon(0.03));
}

TEST_CASE("phases say why they do not know the cost", "[phases]")
{
	const auto says = [](const std::vector<Phase> &phases) { return estimate_phases(phases).why_unknown; };
	CHECK(says({}).find("0 phases") != std::string::npos);
	CHECK(says(Program(1, 60).phases(min_phases - 1)).find("7 phases") != std::string::npos);
	CHECK(says(Program(1, 60).phases(20)).empty());
	CHECK(says(Program(1, 1).phases(20)).find("differ by too much") != std::string::npos);
	std::vector<Phase> idle = Program(1, 60).phases(20);
	for (Phase &phase : idle)
		for (PhasePart *part : {&phase.before, &phase.without, &phase.after})
			part->progress = {3, 0, 0};
	CHECK(says(idle).find("no counter") != std::string::npos);
}

TEST_CASE("progress is measured by the counter that advances most steadily", "[phases]")
{
	std::vector<Phase> phases = Program(3, 60).phases(20);
	CHECK(estimate_phases(phases).counter == EDC_PROGRESS_CALLS);
	for (Phase &phase : phases)
		for (PhasePart *part : {&phase.before, &phase.without, &phase.after})
			std::swap(part->progress[EDC_PROGRESS_CALLS], part->progress[EDC_PROGRESS_FAULTS]);
	CHECK(estimate_phases(phases).counter == EDC_PROGRESS_FAULTS);
}

} // namespace test_phase_estimate
