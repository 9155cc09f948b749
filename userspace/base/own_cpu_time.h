// SPDX-License-Identifier: MIT
// CPU time of this process.
#pragma once

#include <cstdint>

#include <sys/resource.h>

namespace monitor {

// Of all threads, in nanoseconds (getrusage(2)).
inline std::uint64_t own_cpu_time_ns()
{
	rusage usage;
	::getrusage(RUSAGE_SELF, &usage);
	const auto ns = [](const timeval &time) {
		return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
		       static_cast<std::uint64_t>(time.tv_usec) * 1000u;
	};
	return ns(usage.ru_utime) + ns(usage.ru_stime);
}

} // namespace monitor
