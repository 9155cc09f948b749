// SPDX-License-Identifier: MIT
// The clocks of a fleet's run: from each host's exchanges (.monitor/clocks/HOST) to .monitor/collection.json.
//
// The traces stay unchanged: Trace::open reads their clocks from that file. A host without usable exchanges is in it,
// too; its clock is then its own, with an unknown bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/collection/clock_lines.h"

namespace monitor::fleet {

struct HostClockLines {
	std::string host; // its directory in the run
	std::uint64_t exchanges = 0, left_out = 0;
	collection::ClockLines lines; // empty: `why_none` says why
	std::string why_none;
};

// For all hosts of the run, by name. Throws Error: the run cannot be read, or the file cannot be written.
std::vector<HostClockLines> write_run_clocks(const std::string &run);

// The boot of a host's lines; "": unknown, or its traces are of several boots.
std::string boot_of(const std::string &run, const std::string &host);

} // namespace monitor::fleet
