// SPDX-License-Identifier: MIT
// What the calibrations of a recording measured (recording/card/calibration.cpp): the cost of an event.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace monitor::analyze {

// ns per event: median of `rounds`, and quartiles; off_difference: between a round's two times without probes.
struct CalibratedCost {
	double low = 0, median = 0, high = 0, off_difference = 0;
	std::uint64_t rounds = 0;
};

using CalibratedCosts = std::map<std::string, CalibratedCost>; // by family, `rejected`, `reset`

// record --calibrate: measured in phases without probes while the command ran. In ns per event of the command, with a
// 90 % interval.
struct PhaseCost {
	double low = 0, median = 0, high = 0;
	std::string why_unknown;                     // "": the above is known
	std::uint64_t used = 0;                      // phases that they are made of
	std::uint64_t number = 0, ticks = 0;         // of all phases, which are gaps in the trace
	std::uint64_t marks = 0;                     // in the streams of CPUs, each counted as a discarded token
	std::map<std::string, std::uint64_t> events; // by family: those of which it is the cost

	bool is_known() const { return why_unknown.empty(); }
};

struct Calibration {
	CalibratedCosts start;
	std::optional<CalibratedCosts> end; // empty: the end could not be calibrated
	std::optional<PhaseCost> phases;
};

} // namespace monitor::analyze
