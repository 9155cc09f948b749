// SPDX-License-Identifier: MIT
#include "user_memory.h"

#include <algorithm>
#include <bit>

#include "monitor/ring.h"

namespace monitor::buffering {

std::uint64_t user_area_bytes(std::uint64_t ring_blocks, unsigned cpus)
{
	return EDC_BLOCK_SIZE * (1 + (1 + ring_blocks) * (std::uint64_t{cpus} + 1));
}

// One half is for a few programs with many events: each gets half of the rest. The other half suffices for small rings
// of 1,024 programs.
std::uint64_t user_ring_blocks(const UserMemory &memory, std::uint64_t used, unsigned cpus)
{
	constexpr std::uint64_t kib = 1024, programs = 1024;
	const std::uint64_t rings = std::uint64_t{cpus} + 1;
	const std::uint64_t min_ring = std::clamp(memory.bytes / programs / rings, 16 * kib, 64 * kib);
	const std::uint64_t share = used < memory.bytes / 2 ? (memory.bytes / 2 - used) / 2 / rings : 0;
	const std::uint64_t ring = std::clamp(share, min_ring, std::max(min_ring, memory.ring_bytes));
	std::uint64_t blocks = std::bit_floor(ring / EDC_BLOCK_SIZE);
	return used + user_area_bytes(blocks, cpus) <= memory.bytes ? blocks : 0;
}

} // namespace monitor::buffering
