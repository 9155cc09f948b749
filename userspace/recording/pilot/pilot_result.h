// SPDX-License-Identifier: MIT
// The relative CPU overhead that a pilot (pilot.h) found, as text and JSON. Invariants: what is unknown is no number;
// measurements in which events were lost are left out, because a probe costs less with a full ring.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/recording_file/calibration.h"
#include "paired.h"

namespace monitor::pilot {

struct PilotResult {
	enum class How : std::uint8_t { runs, phases, loops };

	How how = How::runs;
	std::uint64_t pairs = 0;                 // of measurements, without the next ones
	std::uint64_t lossy_pairs = 0;           // left out
	std::optional<double> low, median, high; // a 90 % interval; of loops without factors `low` only
	// Of the command: of a run, or of all phases, without probes; of loops while events were counted, with them.
	std::optional<double> cpu_ns;
	std::string why_unknown; // "": at least `low` is known
};

PilotResult result_of_runs(const std::vector<Pair> &pairs);
// Without `low` and without a reason: the phases do not suffice.
PilotResult result_of_phases(const std::vector<PhasePair> &pairs);

// What a process tree did while its events were counted, with probes.
struct CountedEvents {
	std::map<std::string, std::uint64_t> by_family;
	std::optional<double> cpu_ns;
	std::uint64_t lost = 0;
};
// Replaces the figures of `result` by the events' cost in loops, times `factors` if there are any.
void use_cost_in_loops(PilotResult &result, const CountedEvents &counted, const recording_file::CalibratedCosts &loops,
		       const recording_file::CodeFactors &factors);

// "probes 15 to 40 % of CMD's CPU time (A/B, 9 pairs)"
std::string text_of(const PilotResult &result);
nlohmann::ordered_json json_of(const PilotResult &result);

} // namespace monitor::pilot
