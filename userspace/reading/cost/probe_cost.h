// SPDX-License-Identifier: MIT
// What the probes of a recording cost: its events times the cost per event, calibrated at its start and at its end
// (recording/calibration/calibration.cpp), and times what other code pays than loops, where that was measured
// (recording/pilot/code_factors.cpp). A cost that could not be measured on the machine is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reading/analyze/recording_info.h"

namespace monitor::cost {

using namespace analyze; // of whose recordings this is

struct ProbeCost {
	// Of loops: `low_ns` is the least that it can have been, for other code finds less in the caches and cannot
	// cost less; it needs no agreement of the loops. Empty: unknown.
	std::optional<double> low_ns, median_ns, high_ns;
	std::string why_unknown;        // of what is
	std::uint64_t phases = 0;       // of the command itself that it was measured in; 0: in loops
	std::string why_not_in_command; // with --calibrate
	std::string when;               // it was calibrated, unless that was at the start and at the end
	// From `low_ns` to `high_ns` as other code on that machine paid, instead of as loops do.
	bool is_of_real_code = false;
};

ProbeCost probe_cost(const RecordingInfo &info);

// How much more than in loops an event of a family costs in other code (monitor doctor --calibrate); none: unknown.
std::optional<CodeFactor> code_factor(const Calibration &calibration, const std::string &family);

// What one event costs, in ns: of both calibrations the lower and the upper quartile, and the middle. If it is known
// from phases, the interval of these, divided among families as the loops' costs are.
struct EventCost {
	double low = 0, median = 0, high = 0;
	std::string why_unknown;
};

// `what`: a family, `rejected` or `discarded`. What was not measured costs as much as the most expensive family.
// Unknown only if the calibration contradicts itself by far more than where a figure without a range is made of it, and
// there were no phases.
EventCost event_cost(const Calibration &calibration, const std::string &what);

} // namespace monitor::cost
