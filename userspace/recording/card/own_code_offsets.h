// SPDX-License-Identifier: MIT
// File offsets of this program's own code, for uprobes that measure the cost of a probe.
#pragma once

#include <cstdint>

namespace monitor::card {

// The offset of an address in this program's file; 0 if it cannot be found.
std::uint64_t offset_in_own_file(std::uint64_t address);

} // namespace monitor::card
