// SPDX-License-Identifier: MIT
// Several traces as one directory that every CTF reader accepts: streams unchanged, clocks shifted, files in TDL
// converted.
//
// Each trace becomes a directory of the collection; .monitor/collection.json records its origin, how far its clock was
// shifted, and how far off it may still be; Trace::open reads it. A clock that drifts is shifted by what is best on the
// whole, for other readers, and has lines in collection.json, which Trace applies instead. A fleet's run has the same
// file for traces that are in place already.
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
	std::optional<std::uint64_t> bound_ns; // to the first one's clock, when shifted; empty: unknown
	std::string how;                       // "first", "given", "messages", "same clock", "unchanged"
	trace::Trace *file = nullptr;          // in TDL, to be converted: damage found is added to its problems
	std::optional<ClockLines> clock = {};  // from ticks, whatever the description says about their origin
};

// The text of collection.json.
std::string parts_json(const std::vector<Part> &parts);

// Files are linked if the file system allows it, otherwise copied. Throws Error and then removes what was written.
void write(const std::string &directory, const std::vector<Part> &parts, bool copy);

} // namespace monitor::collection
