// SPDX-License-Identifier: MIT
#include "ring_layout.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace monitor::buffering {

// Levels 1 and deeper share 1/16 of the blocks. If there are slots, the first one gets half of all blocks and most
// events; the others, used while it is taken, share 1/8. At least two blocks each.
std::array<std::uint64_t, EDC_CARD_RINGS> blocks_by_ring(std::uint64_t blocks, bool with_slots)
{
	constexpr std::uint64_t min_blocks = min_blocks_of_a_ring;
	std::array<std::uint64_t, EDC_CARD_RINGS> by_ring{};
	const auto slots = by_ring.begin() + EDC_CARD_LEVELS;
	std::fill(by_ring.begin() + 1, slots, std::max<std::uint64_t>(blocks / 16 / (EDC_CARD_LEVELS - 1), min_blocks));
	if (with_slots) {
		std::fill(slots, by_ring.end(), std::max<std::uint64_t>(blocks / 8 / (EDC_CARD_SLOTS - 1), min_blocks));
		*slots = std::max(blocks / 2, (EDC_CARD_RINGS - 1) * min_blocks) - (EDC_CARD_RINGS - 2) * min_blocks;
	}
	by_ring[0] = blocks - std::accumulate(by_ring.begin(), by_ring.end(), std::uint64_t(0));
	return by_ring;
}

void lay_out(edc_cpu &area, unsigned cpu, std::uint64_t blocks, unsigned rings)
{
	const auto by_ring = blocks_by_ring(blocks, rings > EDC_CARD_LEVELS);
	std::memset(&area, 0, sizeof area);
	std::uint64_t offset = EDC_CPU_HEADER;
	for (unsigned level = 0; level < rings; ++level) {
		edc_ring &ring = area.level[level].ring;
		ring.first = offset;
		ring.blocks = by_ring[level];
		ring.stream_instance_id = 1 + cpu * rings + level;
		offset += by_ring[level] * EDC_BLOCK_SIZE;
	}
}

} // namespace monitor::buffering
