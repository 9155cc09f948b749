// SPDX-License-Identifier: MIT
// The meaning of `within T` for two events, in probes and in readers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace monitor {

// The most ticks that are within T: the printed whole nanoseconds must not exceed T.
inline std::uint64_t ticks_within(std::uint64_t limit_ns, std::uint64_t frequency_hz)
{
	using Wide = unsigned __int128;
	const Wide ticks = ((Wide(limit_ns) + 1) * frequency_hz - 1) / 1'000'000'000u;
	return static_cast<std::uint64_t>(std::min(ticks, Wide(std::numeric_limits<std::uint64_t>::max())));
}

} // namespace monitor
