// SPDX-License-Identifier: MIT
// The clocks of a description, moved: only the numbers of their offsets change in its text.
//
// Called when a collection is written (collection.h), for each trace whose clock is to agree with the first one's.
#pragma once

#include <cstdint>
#include <string>

namespace monitor::collection {

// The text of a metadata file with every clock's origin so much later (or earlier, if negative). Throws Error if it
// cannot be parsed, which reading the trace would have found.
std::string shifted_clocks(const std::string &metadata, std::int64_t shift_ns);

} // namespace monitor::collection
