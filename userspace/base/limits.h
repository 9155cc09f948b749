// SPDX-License-Identifier: MIT
// What the recorder may write and the reader accepts: each limit is defined once, for both sides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace monitor {

inline constexpr std::size_t max_description_bytes = 16u << 20;      // of `metadata`
inline constexpr std::size_t max_description_file_bytes = 64u << 20; // of metadata and .monitor/*, copied or parsed

// Numbers of CPUs are indices of tables, of which some take a hundred kilobytes for each. A kernel is built for 8192 at
// most; what is above is no CPU.
inline constexpr std::uint32_t max_cpu_numbers = 1 << 13;

} // namespace monitor
