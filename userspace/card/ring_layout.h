// SPDX-License-Identifier: MIT
// How a CPU's blocks are divided among its rings. Used by bpf_card.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "monitor/card.h"

namespace monitor::card {

inline constexpr std::uint64_t least_blocks_of_a_ring = 2;

// Blocks by ring, levels and then lanes; lanes have none without `with_lanes`. The sum is `blocks`, which must be two
// for each ring and two more.
std::array<std::uint64_t, EDC_CARD_RINGS> blocks_by_ring(std::uint64_t blocks, bool with_lanes);

} // namespace monitor::card
