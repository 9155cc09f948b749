/* SPDX-License-Identifier: MIT */
/* Prints the time stamp counter and CLOCK_MONOTONIC_RAW, read together: for tests/fleet/three_guests.py. */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

int main(void)
{
	unsigned long long best = ~0ull, ticks = 0, ns = 0;
	for (int i = 0; i < 1000; ++i) {
		struct timespec raw;
		const unsigned long long before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
		const unsigned long long width = __rdtsc() - before;
		if (width >= best)
			continue;
		best = width;
		ticks = before + width / 2;
		ns = (unsigned long long)raw.tv_sec * 1000000000 + (unsigned long long)raw.tv_nsec;
	}
	printf("%llu %llu\n", ticks, ns);
	return 0;
}
