// SPDX-License-Identifier: MIT
#include "buffers.h"

#include <algorithm>

#include <unistd.h>

#include "base/error.h"
#include "monitor/ring.h"
#include "ring_layout.h"

namespace monitor::buffering {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint32_t min_pool_blocks = 16;
constexpr std::uint64_t max_blocks_of_a_cpu = 256 * mib / EDC_BLOCK_SIZE;

std::uint64_t min_blocks_of_a_cpu(unsigned rings)
{
	return min_blocks_of_a_ring * (rings + 1);
}

} // namespace

std::uint64_t min_total_bytes(unsigned cpus, unsigned rings_per_cpu)
{
	return std::max<std::uint64_t>(min_blocks_of_a_cpu(rings_per_cpu) * cpus * 3, 24) * EDC_BLOCK_SIZE;
}

Buffers divide_buffers(std::optional<std::uint64_t> total_bytes, unsigned cpus, unsigned rings_per_cpu)
{
	// A loop of system calls on a fast CPU makes 10 million tokens, or 80 MB, per second: a ring lasts for twice
	// the longest time between two passes (drain_pace.h), the pool for a second of one CPU, and longer with more
	// CPUs. 2 CPUs: 32 MiB of rings and 80 MiB of pool.
	std::uint64_t rings = std::clamp<std::uint64_t>(512 / cpus, 2, 16) * mib * cpus;
	std::uint64_t pool = std::max<std::uint64_t>(80 * mib, rings / 2);
	if (total_bytes) {
		rings = *total_bytes / 3;
		pool = *total_bytes - rings;
	}
	Buffers buffers;
	buffers.blocks_per_cpu = rings / cpus / EDC_BLOCK_SIZE;
	buffers.pool_blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(pool / EDC_BLOCK_SIZE, 1u << 24));
	const std::uint64_t min_blocks = min_blocks_of_a_cpu(rings_per_cpu);
	if (buffers.blocks_per_cpu < min_blocks || buffers.pool_blocks < min_pool_blocks)
		throw Error("--buffer is too small for {} CPUs; at least {} KiB are needed", cpus,
			    min_total_bytes(cpus, rings_per_cpu) / 1024);
	buffers.blocks_per_cpu = std::min(buffers.blocks_per_cpu, max_blocks_of_a_cpu);
	return buffers;
}

Buffers smallest_buffers(unsigned rings_per_cpu)
{
	return {min_blocks_of_a_cpu(rings_per_cpu), min_pool_blocks};
}

// A hold (ring.h) leaves an eighth of a ring for new events until the recorder's thread runs. If the disk stalls, new
// events are discarded, not the past.
Buffers divide_flight_buffers(std::optional<std::uint64_t> rings_bytes, unsigned cpus, unsigned rings_per_cpu)
{
	const std::uint64_t rings = rings_bytes.value_or(std::clamp<std::uint64_t>(512 / cpus, 2, 32) * mib * cpus);
	Buffers buffers;
	buffers.blocks_per_cpu = rings / cpus / EDC_BLOCK_SIZE;
	const std::uint64_t min_blocks = min_blocks_of_a_cpu(rings_per_cpu);
	if (buffers.blocks_per_cpu < min_blocks)
		throw Error("--flight {} KiB is too small for {} CPUs; at least {} KiB are needed", rings / 1024, cpus,
			    min_blocks * cpus * EDC_BLOCK_SIZE / 1024);
	if (buffers.blocks_per_cpu > max_blocks_of_a_cpu)
		throw Error("--flight {} MiB is too large for {} CPUs: a CPU's rings have at most 256 MiB", rings / mib,
			    cpus);
	buffers.pool_blocks =
	    static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rings / 4, 4 * mib, 64 * mib) / EDC_BLOCK_SIZE);
	return buffers;
}

// A ring of 8 MiB holds a burst of a million events.
UserMemory user_memory(std::optional<std::uint64_t> total_bytes)
{
	if (total_bytes)
		return {*total_bytes, 256 * mib};
	const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0l));
	const auto page = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0l));
	return {std::clamp<std::uint64_t>(pages * page / 16, 32 * mib, 8192 * mib), 8 * mib};
}

} // namespace monitor::buffering
