// SPDX-License-Identifier: MIT
// How the pool of blocks between drain thread and writer is used.
#pragma once

#include <algorithm>
#include <cstdint>

namespace monitor::buffering {

constexpr std::uint32_t max_blocks_in_a_write = 256;

// The writer is woken for this many blocks; for fewer when they have waited (drain_pace.h).
constexpr std::uint32_t blocks_of_a_wakeup(std::uint32_t pool_blocks)
{
	return std::min(max_blocks_in_a_write, pool_blocks / 4);
}

// Blocks reserved for the kernel's events.
constexpr std::uint32_t kept_for_kernel(std::uint32_t pool_blocks)
{
	return pool_blocks / 4;
}

} // namespace monitor::buffering
