// SPDX-License-Identifier: MIT
// Compares a recording with a model: does it fulfil the model's claims, and have its activities the same CPU times?
//
// CPU times are compared by the two-sample Kolmogorov-Smirnov test. Runs of one program differ from each other by more
// than the chance within a run explains: so times are said to differ only if their distance is also larger than that
// between the model's own recordings, or the halves of its only one. An activity that is frequent in the model and not
// in the recording differs, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "claims.h"
#include "structure.h"

namespace monitor::model {

// The probability of any false alarm, divided by the number of activities.
inline constexpr double significance = 0.01;
// Smaller distances are not reported, even if significant.
inline constexpr double min_distance = 0.1;

struct ClaimResult {
	Relation relation;
	Counts counts;

	bool holds() const { return counts.holds(); }
};

struct TimesResult {
	std::string activity;
	std::size_t in_model = 0, in_recording = 0;  // iterations with the activity
	double model_ns = 0, recording_ns = 0;       // means
	std::optional<double> distance, probability; // empty if one side has no values
	double own_distance = 0;                     // between the model's own recordings
	bool differs = false;
};

struct Comparison {
	std::vector<ClaimResult> claims;
	std::vector<TimesResult> times;
	double significance_of_each = 0;

	std::size_t violations() const;
};

Comparison compare(const Model &model, const Recording &recording);

// The largest difference of the two distribution functions, and the probability of such a distance by chance.
double ks_distance(std::vector<double> one, std::vector<double> other);
double ks_probability(double distance, std::size_t one, std::size_t other);

} // namespace monitor::model
