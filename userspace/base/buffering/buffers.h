// SPDX-License-Identifier: MIT
// How much memory a recording's rings and pool get.
#pragma once

#include <cstdint>
#include <optional>

#include "user_memory.h"

namespace monitor::buffering {

// How the buffer memory is divided. `total_bytes` empty: the default for this number of CPUs.
struct Buffers {
	std::uint64_t blocks_per_cpu = 0;
	std::uint32_t pool_blocks = 0;
};
Buffers divide_buffers(std::optional<std::uint64_t> total_bytes, unsigned cpus, unsigned rings_per_cpu);
std::uint64_t min_total_bytes(unsigned cpus, unsigned rings_per_cpu);
// For rings that stay empty.
Buffers smallest_buffers(unsigned rings_per_cpu);
// Buffers of a flight recorder. `rings_bytes` excludes the pool.
Buffers divide_flight_buffers(std::optional<std::uint64_t> rings_bytes, unsigned cpus, unsigned rings_per_cpu);

// Memory for the rings of instrumented programs, in addition: `total_bytes`, by default a sixteenth of the machine's
// memory.
UserMemory user_memory(std::optional<std::uint64_t> total_bytes);

} // namespace monitor::buffering
