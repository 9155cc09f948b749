// SPDX-License-Identifier: MIT
// Predicts the overhead of recording a command (monitor plan -- CMD) by running it. A short command runs repeatedly,
// alternately without and with probes; for a long one probes are attached and detached in turn, and CPU time per
// progress is compared. Fallback: number of events times their cost in loops.
#pragma once

#include <functional>
#include <string>

#include "pilot_result.h"
#include "recording/session/recording.h"

namespace monitor::pilot {

struct PilotOptions {
	record::Options record;                             // what would be recorded, and the command
	double seconds = 5;                                 // how long the command may take
	std::function<void(const std::string &)> on_note{}; // announces each step and its duration
};

// As root. Throws Error.
PilotResult pilot(const PilotOptions &options);

} // namespace monitor::pilot
