// SPDX-License-Identifier: MIT
// Estimates the cost of an event in the recorded command from phases without probes (record --calibrate): compares the
// CPU time per unit of progress in a phase with that directly before and after it. Called at the end of a recording by
// calibration_phases.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "monitor/progress.h"

namespace monitor::record {

// What the command did in a part of a phase.
struct PhasePart {
	double cpu_ns = 0;
	std::array<double, EDC_PROGRESS_COUNTERS> progress{};
	double events = 0; // recorded events of the command
};

struct Phase {
	PhasePart before, without, after; // only `without` is without probes
};

inline constexpr std::size_t min_phases = 8;
inline constexpr double normal_95 = 1.645; // standard deviations in half of a 90 % interval

// With a 90 % interval.
struct Median {
	double low = 0, median = 0, high = 0;
};
// The Hodges-Lehmann estimate, with its interval from Wilcoxon's signed ranks. `values` must not be empty.
Median median_of(const std::vector<double> &values);

struct PhaseEstimate {
	double low = 0, median = 0, high = 0; // ns per event; a 90 % interval
	std::size_t phases = 0;               // used in the estimate
	std::size_t counter = 0;              // EDC_PROGRESS_*: by which progress was measured
	std::string why_unknown;              // "": the above is known
};

// The median of the phases' results. Progress is measured by the counter most proportional to CPU time while probes are
// attached.
PhaseEstimate estimate_phases(const std::vector<Phase> &phases);

} // namespace monitor::record
