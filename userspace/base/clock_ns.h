// SPDX-License-Identifier: MIT
// clock_gettime(2) in nanoseconds.
#pragma once

#include <cstdint>

#include <time.h>

namespace monitor {

inline std::uint64_t clock_ns(clockid_t clock)
{
	timespec now;
	::clock_gettime(clock, &now);
	return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace monitor
