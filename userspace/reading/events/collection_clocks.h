// SPDX-License-Identifier: MIT
// What a collection says about the clocks of its traces: .monitor/collection.json, as `monitor merge` or a fleet's
// collector wrote it.
//
// Read by Trace::open. The file is untrusted: a clock that cannot be used is reported, the trace then keeps its own
// clock, and how far off it is is unknown. Files of before there were lines have bounds only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clock_map.h"

namespace monitor::trace {

// Of one trace.
struct PartClock {
	ClockBoundNs bound;
	bool has_lines = false;
	std::vector<ClockNode> nodes;
	std::vector<ClockBoundNs> bounds;
};

// By the name of the trace's directory in the collection. What is wrong is added to `warnings`, a line for each.
// Without the file there is none.
std::map<std::string, PartClock> read_collection(const std::string &directory, std::vector<std::string> &warnings);
// The same from the file's text.
std::map<std::string, PartClock> parse_collection(const std::string &untrusted_text, const std::string &path,
						  std::vector<std::string> &warnings);

} // namespace monitor::trace
