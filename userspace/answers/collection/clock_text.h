// SPDX-License-Identifier: MIT
// Shifts the clocks of a description: in its text only their offsets change, and they become absolute.
#pragma once

#include <cstdint>
#include <string>

namespace monitor::collection {

// The text of a metadata file with every clock's origin later by shift_ns (or earlier, if negative), and absolute.
// Throws Error if it cannot be parsed, which reading the trace would have found.
std::string shifted_clocks(const std::string &metadata, std::int64_t shift_ns);

} // namespace monitor::collection
