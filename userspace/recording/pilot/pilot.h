// SPDX-License-Identifier: MIT
// What recording a command will cost it (monitor plan -- CMD): the command itself, without and with probes. One that
// ends in time runs again and again, alternately without and with them; of one that goes on the probes are attached and
// detached in turn, and its CPU time is compared for the same progress. Where that says nothing, its events times what
// an event costs in loops.
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
	std::function<void(const std::string &)> on_note{}; // what will take how long, beforehand
};

// Shares of the command's CPU time that the probes would add.
struct PilotResult {
	enum class How : std::uint8_t { runs, phases, loops };

	How how = How::runs;
	std::uint64_t pairs = 0;                 // without and with probes
	std::optional<double> low, median, high; // a 90 % interval; of loops without factors `low` only
	double cpu_ns = 0;                       // of the command: of a run, or of all phases, without probes
	std::string why_unknown;                 // "": at least `low` is known
};

// As root. Throws Error.
PilotResult pilot(const PilotOptions &options);

// "probes 15 to 40 % of CMD's CPU time (A/B, 9 pairs)"
std::string text_of(const PilotResult &result);

} // namespace monitor::pilot
