// SPDX-License-Identifier: MIT
// How long a changed program would take, predicted by replaying its model, with an interval; or why that is not known.
//
// The interval is to contain 9 of 10 single runs. Its half-width combines the deviation of runs (the larger one of
// recorded and of replayed runs, by Student's t) and the replay's bias (how far the mean of replays without a change is
// from the mean of the recordings), and is at least min_half_width.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "reading/model/model.h"
#include "reading/simulation/replay.h"

namespace monitor::predict {

// Share of the elapsed time. Assumed for side effects of a change, which the model does not have.
constexpr double min_half_width = 0.06;
constexpr std::size_t min_recordings = 3; // for an interval

struct Settings {
	bool resamples = false;
	bool is_numeric = false; // series-parallel graphs are computed, not simulated
	std::uint64_t seed = 1;
	std::uint64_t enough_events = 20'000'000; // simulated; then no more draws, after at least three
	// Events and operations of all replays, as many as ten of the longest have; then no more are begun.
	std::uint64_t max_effort = 2'000'000'000;
};

struct Estimate {
	std::string change; // in words
	double elapsed_ns = 0;
	std::optional<double> low_ns, high_ns;
	double speed_up = 1;
	bool is_lower_bound = false; // more CPUs than were recorded
	std::optional<simulation::Load> limit;
};

struct Prediction {
	Estimate base; // the model as it is
	std::vector<Estimate> changes;
	std::vector<std::string> notes; // sentences
};

// Throws model::Refused if the model cannot answer, Error if the replay ends early.
Prediction predict(const model::Model &model, const std::vector<simulation::Change> &changes, const Settings &settings);

} // namespace monitor::predict
