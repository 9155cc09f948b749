// SPDX-License-Identifier: MIT
#include "ring_layout.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace monitor::card {

// Levels 1 and deeper share 1/16 of the blocks. If there are slots, the first one has half of all blocks, because it
// then gets most events; the others, used while it is taken, share 1/8. At least two blocks each.
std::array<std::uint64_t, EDC_CARD_RINGS> blocks_by_ring(std::uint64_t blocks, bool with_slots)
{
	constexpr std::uint64_t least = min_blocks_of_a_ring;
	std::array<std::uint64_t, EDC_CARD_RINGS> by_ring{};
	const auto slots = by_ring.begin() + EDC_CARD_LEVELS;
	std::fill(by_ring.begin() + 1, slots, std::max<std::uint64_t>(blocks / 16 / (EDC_CARD_LEVELS - 1), least));
	if (with_slots) {
		std::fill(slots, by_ring.end(), std::max<std::uint64_t>(blocks / 8 / (EDC_CARD_SLOTS - 1), least));
		*slots = std::max(blocks / 2, (EDC_CARD_RINGS - 1) * least) - (EDC_CARD_RINGS - 2) * least;
	}
	by_ring[0] = blocks - std::accumulate(by_ring.begin(), by_ring.end(), std::uint64_t(0));
	return by_ring;
}

std::uint64_t user_area_bytes(std::uint64_t ring_blocks, unsigned cpus)
{
	return EDC_BLOCK_SIZE * (1 + (1 + ring_blocks) * (std::uint64_t{cpus} + 1));
}

// One half is for a few programs with many events: each gets half of what is left of it. The other half is enough for
// small rings of 1,024 programs.
std::uint64_t user_ring_blocks(const UserMemory &memory, std::uint64_t used, unsigned cpus)
{
	constexpr std::uint64_t kib = 1024, programs = 1024;
	const std::uint64_t rings = std::uint64_t{cpus} + 1;
	const std::uint64_t least = std::clamp(memory.bytes / programs / rings, 16 * kib, 64 * kib);
	const std::uint64_t share = used < memory.bytes / 2 ? (memory.bytes / 2 - used) / 2 / rings : 0;
	const std::uint64_t ring = std::clamp(share, least, std::max(least, memory.ring_bytes));
	std::uint64_t blocks = std::bit_floor(ring / EDC_BLOCK_SIZE);
	return used + user_area_bytes(blocks, cpus) <= memory.bytes ? blocks : 0;
}

} // namespace monitor::card
