// SPDX-License-Identifier: MIT
// What the probes of a recording cost: its number of events times the cost per event, calibrated at its start and end
// (recording/calibration/calibration.cpp), times the ratio of other code's cost to that of loops, where measured
// (recording/pilot/code_factors.cpp). A cost that could not be measured on the machine is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "reading/analyze/recording_info.h"

namespace monitor::cost {

using namespace analyze; // RecordingInfo and its parts

struct ProbeCost {
	// Measured in loops. `low_ns` is a lower bound, as other code has more cache misses than a loop; it does not
	// require that the loops agree. Empty: unknown.
	std::optional<double> low_ns, median_ns, high_ns;
	std::string why_unknown;        // of the empty figures
	std::uint64_t phases = 0;       // of the command in which it was measured; 0: in loops
	std::string why_not_in_command; // why --calibrate did not measure in the command
	std::string when;               // when it was calibrated, if not at the start and at the end
	// The range from `low_ns` to `high_ns` is for other code on that machine, not for loops.
	bool is_of_real_code = false;
};

ProbeCost probe_cost(const RecordingInfo &info);
// ProbeCost::low_ns of a part of the recording: of the events in it, `stored` by class id, without what was rejected
// meanwhile and without stacks.
std::optional<double> min_cost(RecordingInfo info, std::span<const std::uint64_t> stored);

// Ratio of an event's cost in other code to that in loops, by family (monitor doctor --calibrate); empty: unknown.
std::optional<CodeFactor> code_factor(const Calibration &calibration, const std::string &family);

// The cost of one event in ns: the lower and upper quartile of both calibrations, and the middle. If known from phases,
// their interval, divided among families in the ratio of the loops' costs.
struct EventCost {
	double low = 0, median = 0, high = 0;
	std::string why_unknown;
};

// `what`: a family, `rejected` or `discarded`. One that was not measured costs as much as the most expensive family.
// Unknown only if the calibration contradicts itself by far more than is accepted for a single figure, and there were
// no phases.
EventCost event_cost(const Calibration &calibration, const std::string &what);

} // namespace monitor::cost
