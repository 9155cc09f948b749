// SPDX-License-Identifier: MIT
// Several traces as one directory that every CTF reader accepts: streams unchanged, clocks shifted, files in TDL
// converted.
// Each trace becomes a directory of the collection; .monitor/collection.json records its origin, its clock's shift and
// the remaining bound; Trace::open reads it. A drifting clock gets the best constant shift, for other readers, and
// lines in collection.json, which Trace applies instead. A fleet's run has the same file for traces that are in place
// already.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clock_lines.h"
#include "reading/events/trace.h"

namespace monitor::collection {

struct Part {
	std::string source;    // the directory that was merged, or the file
	std::string directory; // its name in the collection
	std::int64_t shift_ns = 0;
	std::optional<std::uint64_t> bound_ns; // relative to the first one's clock, after the shift; empty: unknown
	std::string how;                       // "first", "given", "messages", "same clock", "unchanged"
	trace::Trace *file = nullptr;          // a file in TDL, to be converted; damage is added to its problems
	std::optional<ClockLines> clock = {};  // from ticks, independent of the description's origin
};

// The text of collection.json.
std::string parts_json(const std::vector<Part> &parts);

// Files are linked if the file system allows it, otherwise copied. Throws Error and then removes what was written.
void write(const std::string &directory, const std::vector<Part> &parts, bool copy);

} // namespace monitor::collection
