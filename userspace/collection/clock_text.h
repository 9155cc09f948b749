// SPDX-License-Identifier: MIT
// The clocks of a description, moved: in its text only their offsets change, and that they are absolute.
//
// Called when a collection is written (collection.h), for each of its traces: their clocks agree with the first one's.
#pragma once

#include <cstdint>
#include <string>

namespace monitor::collection {

// The text of a metadata file with every clock's origin so much later (or earlier, if negative), absolute. Throws
// Error if it cannot be parsed, which reading the trace would have found.
std::string shifted_clocks(const std::string &metadata, std::int64_t shift_ns);

} // namespace monitor::collection
