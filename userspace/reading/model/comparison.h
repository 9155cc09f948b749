// SPDX-License-Identifier: MIT
// Compares a model with a recording: does the recording do what the model claims, and do its activities take as long?
//
// The times of an activity are compared by the two-sample test of Kolmogorov and Smirnov. Runs of one program differ,
// too, and by more than chance within a run explains: times differ only if they are further apart than those of the
// model's own recordings are from each other (of a single one, its halves). What the model's recordings do often and
// this one does not differs, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "claims.h"
#include "structure.h"

namespace monitor::model {

// That any activity is said to differ by chance; divided among them.
inline constexpr double significance = 0.01;
// Distances up to here are not worth saying.
inline constexpr double min_distance = 0.1;

struct ClaimResult {
	Relation relation;
	Counts counts;

	bool holds() const { return counts.holds(); }
};

struct TimesResult {
	std::string activity;
	std::size_t in_model = 0, in_recording = 0; // values
	double model_ns = 0, recording_ns = 0;      // means
	// Empty: there is nothing to compare.
	std::optional<double> distance, probability;
	double own_distance = 0;
	bool differs = false; // also if this recording has none of many
};

struct Comparison {
	std::vector<ClaimResult> claims;
	std::vector<TimesResult> times;
	double significance_of_each = 0;

	std::size_t violations() const;
};

Comparison compare(const Model &model, const Recording &recording);

// The largest distance between two distribution functions, and how probable one as large is by chance.
double ks_distance(std::vector<double> one, std::vector<double> other);
double ks_probability(double distance, std::size_t one, std::size_t other);

} // namespace monitor::model
