// SPDX-License-Identifier: MIT
// Several traces as one directory that every reader of CTF takes: streams unchanged, clocks moved, files in TDL
// converted.
//
// Called by `monitor merge`. Each trace becomes a directory of the collection; .monitor/collection.json says where it
// comes from, how far its clock was moved, and how far off it may still be, which Trace::open reads again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace monitor::collection {

struct Part {
	std::string source;    // the directory that was merged, or the file
	std::string directory; // its name in the collection
	std::int64_t shift_ns = 0;
	std::optional<std::uint64_t> bound_ns; // to the first one's clock; empty: not known
	std::string how;                       // "first", "given", "messages", "same clock", "as it is"
	trace::Trace *file = nullptr;          // in TDL, to be converted: what is damaged becomes its problems
};

// Files are linked where the file system allows it, else copied. Throws Error; what was begun is removed then.
void write(const std::string &directory, const std::vector<Part> &parts, bool copy);

} // namespace monitor::collection
