// SPDX-License-Identifier: MIT
// How memory is divided among rings: a CPU's blocks among the kernel's, used by bpf_card.cpp, and what all instrumented
// programs together may have among these, used by user_card.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "monitor/card.h"

namespace monitor::card {

inline constexpr std::uint64_t least_blocks_of_a_ring = 2;

// Blocks by ring, levels and then lanes; lanes have none without `with_lanes`. The sum is `blocks`, which must be two
// for each ring and two more.
std::array<std::uint64_t, EDC_CARD_RINGS> blocks_by_ring(std::uint64_t blocks, bool with_lanes);

// What the rings of instrumented programs may have.
struct UserMemory {
	std::uint64_t bytes = 0;      // of all programs together, memory and addresses
	std::uint64_t ring_bytes = 0; // of one ring, at most
};

// Blocks of each ring of one more program, a power of two, when those of others have `used` bytes; 0: it gets none. It
// has a ring for each CPU and the shared one, and a page more.
std::uint64_t user_ring_blocks(const UserMemory &memory, std::uint64_t used, unsigned cpus);
std::uint64_t user_area_bytes(std::uint64_t ring_blocks, unsigned cpus);

} // namespace monitor::card
