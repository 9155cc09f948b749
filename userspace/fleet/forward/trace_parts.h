// SPDX-License-Identifier: MIT
// The traces in the directory of a recording: itself, or each snapshot of a flight recorder, which have one uuid.
#pragma once

#include <string>
#include <vector>

namespace monitor::fleet {

struct TracePart {
	std::string directory;
	std::string part; // TraceName::part
};

// Without snapshots that have not started.
std::vector<TracePart> trace_parts(const std::string &recording);

// Whether the recorder has ended the trace in this directory.
bool trace_has_ended(const std::string &directory);

} // namespace monitor::fleet
