// SPDX-License-Identifier: MIT
// What `within T` means wherever the times of two events are compared with it, in the kernel and afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace monitor {

// The most ticks that are within T: as whole nanoseconds, which are what is printed, they are at most T. At least one
// tick unless T is 0: to probes no ticks are no limit.
inline std::uint64_t ticks_within(std::uint64_t limit_ns, std::uint64_t frequency_hz)
{
	using Wide = unsigned __int128;
	const Wide ticks = ((Wide(limit_ns) + 1) * frequency_hz - 1) / 1'000'000'000u;
	const Wide least = limit_ns > 0, most = std::numeric_limits<std::uint64_t>::max();
	return static_cast<std::uint64_t>(std::clamp(ticks, least, most));
}

} // namespace monitor
