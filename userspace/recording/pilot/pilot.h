// SPDX-License-Identifier: MIT
// Predicts the overhead of recording a command (monitor plan -- CMD) by running it. A short command runs repeatedly,
// alternately without and with probes; for a long one probes are attached and detached in turn, and CPU time per
// progress is compared. Fallback: number of events times their cost in loops.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "recording/session/recording.h"

namespace monitor::pilot {

struct PilotOptions {
	record::Options record;                             // what would be recorded, and the command
	double seconds = 5;                                 // how long the command may take
	std::function<void(const std::string &)> on_note{}; // announces each step and its duration
};

// Relative CPU overhead of the probes.
struct PilotResult {
	enum class How : std::uint8_t { runs, phases, loops };

	How how = How::runs;
	std::uint64_t pairs = 0;                 // of measurements
	std::optional<double> low, median, high; // a 90 % interval; of loops without factors `low` only
	double cpu_ns = 0;                       // of the command: of a run, or of all phases, without probes
	std::string why_unknown;                 // "": at least `low` is known
};

// As root. Throws Error.
PilotResult pilot(const PilotOptions &options);

// "probes 15 to 40 % of CMD's CPU time (A/B, 9 pairs)"
std::string text_of(const PilotResult &result);

} // namespace monitor::pilot
