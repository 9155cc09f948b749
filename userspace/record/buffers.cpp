// SPDX-License-Identifier: MIT
#include "buffers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "card/ring_layout.h"
#include "monitor/ring.h"

namespace monitor::record {
namespace {

constexpr std::uint64_t mib = 1 << 20;

} // namespace

Buffers divide_buffers(std::optional<std::uint64_t> total_bytes, unsigned cpus, unsigned rings_per_cpu)
{
	// 2 CPUs: 16 MiB of rings and 44 MiB of pool. A pool of a second at full rate of one CPU, more with more CPUs.
	const std::uint64_t ring = (cpus <= 8 ? 8 : cpus <= 64 ? 4 : 2) * mib;
	std::uint64_t rings = ring * cpus;
	std::uint64_t pool = std::max<std::uint64_t>(44 * mib, rings / 2);
	if (total_bytes) {
		rings = *total_bytes / 3;
		pool = *total_bytes - rings;
	}
	Buffers buffers;
	buffers.blocks_per_cpu = rings / cpus / EDC_BLOCK_SIZE;
	buffers.pool_blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(pool / EDC_BLOCK_SIZE, 1u << 24));
	constexpr std::uint64_t most_blocks = 256 * mib / EDC_BLOCK_SIZE;
	const std::uint64_t least_blocks = card::least_blocks_of_a_ring * (rings_per_cpu + 1);
	if (buffers.blocks_per_cpu < least_blocks || buffers.pool_blocks < 16)
		throw Error(fmt::format("--buffer is too small for {} CPUs; at least {} KiB are needed", cpus,
					std::max<std::uint64_t>(least_blocks * cpus * 3, 24) * EDC_BLOCK_SIZE / 1024));
	buffers.blocks_per_cpu = std::min(buffers.blocks_per_cpu, most_blocks);
	return buffers;
}

} // namespace monitor::record
