// SPDX-License-Identifier: MIT
// Shifts the clocks in a description's text: only their offsets change, and they become absolute.
#pragma once

#include <cstdint>
#include <string>

namespace monitor::collection {

// The text of a metadata file with every clock's origin shifted by shift_ns, and absolute. Throws Error if it cannot be
// parsed, which reading the trace would have found.
std::string shifted_clocks(const std::string &metadata, std::int64_t shift_ns);

} // namespace monitor::collection
