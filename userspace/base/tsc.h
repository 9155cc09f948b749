// SPDX-License-Identifier: MIT
// Reads the time stamp counter of this machine.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace monitor {

inline std::uint64_t read_tsc()
{
#if defined(__x86_64__)
	unsigned aux;
	return __rdtscp(&aux);
#elif defined(__aarch64__)
	std::uint64_t value;
	asm volatile("isb; mrs %0, cntvct_el0" : "=r"(value)::"memory");
	return value;
#else
#error "monitor: no time stamp counter known for this architecture"
#endif
}

} // namespace monitor
