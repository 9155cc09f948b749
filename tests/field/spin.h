// SPDX-License-Identifier: MIT
// CLOCK_MONOTONIC in nanoseconds, and a loop that takes a time by it.
#ifndef SPIN_H
#define SPIN_H

#include <time.h>

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void spin_us(long us)
{
	for (const long end = now() + us * 1000; now() < end;)
		;
}

#endif
