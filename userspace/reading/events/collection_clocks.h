// SPDX-License-Identifier: MIT
// The clocks of a collection's traces: .monitor/collection.json, as `monitor merge` or a fleet's collector wrote it.
// The file is untrusted: an unusable clock is reported; the trace then keeps its own clock, with an unknown bound. Old
// files have only bounds and no lines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clock_map.h"

namespace monitor::trace {

// The clock of one trace.
struct PartClock {
	ClockBoundNs bound;
	bool has_lines = false;
	std::vector<ClockNode> nodes;
	std::vector<ClockBoundNs> bounds;
};

// By the name of the trace's directory in the collection. Problems are added to `warnings`, one per line. Empty without
// the file.
std::map<std::string, PartClock> read_collection(const std::string &directory, std::vector<std::string> &warnings);
// The same from the file's text.
std::map<std::string, PartClock> parse_collection(const std::string &untrusted_text, const std::string &path,
						  std::vector<std::string> &warnings);

} // namespace monitor::trace
