// SPDX-License-Identifier: MIT
// How a CPU's blocks are divided among the kernel's rings.
#pragma once

#include <array>
#include <cstdint>

#include "monitor/card.h"

namespace monitor::buffering {

inline constexpr std::uint64_t min_blocks_of_a_ring = 2;

// Blocks by ring, levels first, then slots; slots have none without `with_slots`. The sum is `blocks`, which must be at
// least two for each ring and two more.
std::array<std::uint64_t, EDC_CARD_RINGS> blocks_by_ring(std::uint64_t blocks, bool with_slots);

// Clears the area of a CPU; all of its blocks are free.
void lay_out(edc_cpu &area, unsigned cpu, std::uint64_t blocks, unsigned rings);

} // namespace monitor::buffering
