// SPDX-License-Identifier: MIT
// What the probes of a recording cost: its events times the cost per event, calibrated at its start and at its end
// (recording/calibration/calibration.cpp). A cost that could not be measured on the machine is unknown. Called by
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

struct ProbeCost {
	// Of loops: `low_ns` is the least that it can have been, for other code finds less in the caches and cannot
	// cost less; it needs no agreement of the loops. Empty: unknown.
	std::optional<double> low_ns, median_ns, high_ns;
	std::string why_unknown;        // of what is
	std::uint64_t phases = 0;       // of the command itself that it was measured in; 0: in loops
	std::string why_not_in_command; // with --calibrate
	bool at_start_only = false;     // also if the recorder calibrated only once and stored no quartiles
};

ProbeCost probe_cost(const RecordingInfo &info);

// What one event costs, in ns: of both calibrations the lower and the upper quartile, and the middle. If it is known
// from phases, the interval of these, divided among families as the loops' costs are.
struct EventCost {
	double low = 0, median = 0, high = 0;
	std::string why_unknown;
};

// `what`: a family, or `rejected`. What was not measured costs as much as the most expensive family. Unknown only if
// the calibration contradicts itself by far more than where a figure without a range is made of it, and there were no
// phases.
EventCost event_cost(const Calibration &calibration, const std::string &what);

} // namespace monitor::analyze
