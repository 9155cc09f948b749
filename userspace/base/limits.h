// SPDX-License-Identifier: MIT
// What the recorder may write and the reader accepts: each limit is defined once, for both sides.
#pragma once

#include <cstddef>

namespace monitor {

inline constexpr std::size_t max_description_bytes = 16u << 20; // of `metadata`

} // namespace monitor
