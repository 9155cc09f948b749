// SPDX-License-Identifier: MIT
// What `within T` means wherever the times of two events are compared with it, in the kernel and afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace monitor {

// The most ticks that are within T: as whole nanoseconds, which are what is printed, they are at most T.
inline std::uint64_t ticks_within(std::uint64_t limit_ns, std::uint64_t frequency_hz)
{
	using Wide = unsigned __int128;
	const Wide ticks = ((Wide(limit_ns) + 1) * frequency_hz - 1) / 1'000'000'000u;
	return static_cast<std::uint64_t>(std::min(ticks, Wide(std::numeric_limits<std::uint64_t>::max())));
}

} // namespace monitor
