// SPDX-License-Identifier: MIT
// How long a changed program would take, predicted by replaying its model, with an interval; or why that is not known.
//
// The interval is for one run: 9 of 10 are to be in it. Its parts are how far runs are from each other (of the recorded
// and of the replayed ones the larger deviation, by Student's t for so few), and the replay's bias: how far the mean of
// the replays of what was recorded is from the mean of the recordings. It is never narrower than min_half_width.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "reading/model/model.h"
#include "reading/simulation/replay.h"

namespace monitor::predict {

// Of the elapsed time. Assumed: what it costs at most, as a rule, that a change moves more than it names.
constexpr double min_half_width = 0.06;
constexpr std::size_t min_recordings = 3; // for an interval

struct Settings {
	bool resamples = false;
	bool is_numeric = false; // series-parallel graphs without simulation
	std::uint64_t seed = 1;
	std::uint64_t enough_events = 20'000'000; // of all draws: no more after the third
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
