// SPDX-License-Identifier: MIT
// What the probes of a recording cost: its events times the cost per event, calibrated at its start and at its end
// (recording/card/calibration.cpp). A cost that could not be measured on the machine is unknown. Called by
// answers/report/summary.cpp and virtual_cost.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace monitor::analyze {

struct RecordingInfo;

// ns per event: median of `rounds`, and quartiles; off_difference: between a round's two times without probes.
struct CalibratedCost {
	double low = 0, median = 0, high = 0, off_difference = 0;
	std::uint64_t rounds = 0;
};

using CalibratedCosts = std::map<std::string, CalibratedCost>; // by family, `rejected`, `reset`

struct Calibration {
	CalibratedCosts start;
	std::optional<CalibratedCosts> end; // empty: the end could not be calibrated
};

struct ProbeCost {
	std::optional<double> low_ns, median_ns, high_ns; // empty: unknown
	std::string why_unknown;
	bool at_start_only = false; // also if the recorder calibrated only once and stored no quartiles
};

ProbeCost probe_cost(const RecordingInfo &info);

// What one event costs, in ns: of both calibrations the lower and the upper quartile, and the middle.
struct EventCost {
	double low = 0, median = 0, high = 0;
	std::string why_unknown;
};

// `what`: a family, or `rejected`. What was not measured costs as much as the most expensive family. Unknown only if
// the calibration contradicts itself by far more than where a figure without a range is made of it.
EventCost event_cost(const Calibration &calibration, const std::string &what);

} // namespace monitor::analyze
