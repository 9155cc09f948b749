// SPDX-License-Identifier: MIT
// How memory is divided among rings: a CPU's blocks among the kernel's rings (used by bpf_card.cpp), and the memory of
// all instrumented programs among theirs (used by user_card.cpp).
#pragma once

#include <array>
#include <cstdint>

#include "monitor/card.h"

namespace monitor::card {

inline constexpr std::uint64_t min_blocks_of_a_ring = 2;

// Blocks by ring, levels first, then slots; slots have none without `with_slots`. The sum is `blocks`, which must be at
// least two for each ring and two more.
std::array<std::uint64_t, EDC_CARD_RINGS> blocks_by_ring(std::uint64_t blocks, bool with_slots);

// Limits for the rings of instrumented programs.
struct UserMemory {
	std::uint64_t bytes = 0;      // of all programs together, memory and address space
	std::uint64_t ring_bytes = 0; // of one ring, at most
};

// Blocks of each ring of one more program, a power of two, when the others use `used` bytes; 0: it gets none. It has a
// ring for each CPU, the shared one, and one more page.
std::uint64_t user_ring_blocks(const UserMemory &memory, std::uint64_t used, unsigned cpus);
std::uint64_t user_area_bytes(std::uint64_t ring_blocks, unsigned cpus);

} // namespace monitor::card
