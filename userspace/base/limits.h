// SPDX-License-Identifier: MIT
// What the recorder may write and the reader accepts: each limit is defined once, for both sides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace monitor {

inline constexpr std::size_t max_description_bytes = 16u << 20;      // of `metadata`
inline constexpr std::size_t max_description_file_bytes = 64u << 20; // of metadata and .monitor/*, copied or parsed

// A CPU number is an index of tables, some of which take a hundred kilobytes per CPU. Kernels are built for at most
// 8192 CPUs; a number from there on is invalid.
inline constexpr std::uint32_t max_cpu_numbers = 1 << 13;

} // namespace monitor
