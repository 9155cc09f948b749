// SPDX-License-Identifier: MIT
// How long the operations of a model take in a replay: constants, samples, or drawn values.
#pragma once

#include <cstdint>
#include <random>

#include "machine.h"
#include "reading/model/model.h"

namespace monitor::simulation {

class Durations {
public:
	// `samples` may be null if the model needs none.
	Durations(const model::Model &model, const model::SampleSet *samples, std::uint64_t seed);

	// In ns; of a branch that has samples 1 or 0. `row` is the iteration's in the samples of the role.
	std::uint64_t value_of(const model::Operation &operation, std::size_t role, std::size_t row);
	bool takes(const model::Operation &branch, std::size_t role, std::size_t row);
	// Evenly below `limit`, which is not 0.
	std::uint64_t drawn(std::uint64_t limit) { return random_() % limit; }

	// From a wake-up to the running of the woken thread on an idle CPU, in ns: one of those recorded, or their
	// median.
	double wake_latency();
	double median_wake_latency() const { return median_latency_; }

	// Rounds to ns. Throws Error if the sum of all calls is more than 95 years: so no time of the simulation
	// overflows.
	Nanoseconds spend(double ns);

private:
	double drawn() { return std::uniform_real_distribution<>()(random_); }
	std::uint64_t drawn_of(const model::Distribution &distribution);

	const model::Model &model_;
	const model::SampleSet *samples_;
	std::mt19937_64 random_;
	double median_latency_;
	Nanoseconds spent_ = 0;
};

} // namespace monitor::simulation
