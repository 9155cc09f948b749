/* SPDX-License-Identifier: MIT */
/*
 * The TSC and the monotonic clock read together every 20 ms for argv[1] seconds, one line each: TSC before, monotonic
 * nanoseconds, TSC after. Called by clock.py as a witness that knows nothing of the monitor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <x86intrin.h>

static unsigned long long tsc(void)
{
	unsigned int cpu;

	_mm_lfence();
	unsigned long long now = __rdtscp(&cpu);
	_mm_lfence();
	return now;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 1;
	const struct timespec pause = {0, 20000000};

	for (int i = 0; i < seconds * 50; i++) {
		unsigned long long best = ~0ull, from = 0, to = 0, ns = 0;

		for (int attempt = 0; attempt < 20; attempt++) {
			struct timespec now;
			unsigned long long before = tsc();
			clock_gettime(CLOCK_MONOTONIC, &now);
			unsigned long long after = tsc();

			if (after - before >= best)
				continue;
			best = after - before;
			from = before;
			to = after;
			ns = (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
		}
		printf("%llu %llu %llu\n", from, ns, to);
		nanosleep(&pause, NULL);
	}
	return 0;
}
