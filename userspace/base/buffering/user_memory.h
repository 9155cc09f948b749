// SPDX-License-Identifier: MIT
// How the memory of all instrumented programs is divided among their rings.
#pragma once

#include <cstdint>

namespace monitor::buffering {

// Limits for the rings of instrumented programs.
struct UserMemory {
	std::uint64_t bytes = 0;      // of all programs together, memory and address space
	std::uint64_t ring_bytes = 0; // of one ring, at most
};

// Blocks of each ring of one more program, a power of two, when the others use `used` bytes; 0: it gets none. It has a
// ring for each CPU, the shared one, and one more page.
std::uint64_t user_ring_blocks(const UserMemory &memory, std::uint64_t used, unsigned cpus);
std::uint64_t user_area_bytes(std::uint64_t ring_blocks, unsigned cpus);

} // namespace monitor::buffering
