// SPDX-License-Identifier: MIT
// What programs see if somebody sets the system's clock: from STEP_AT (ns of CLOCK_MONOTONIC) on real time is STEP_S
// seconds later. Preloaded, because the clock of the machine belongs to others, too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static int (*real_clock)(clockid_t, struct timespec *);

int clock_gettime(clockid_t clock, struct timespec *time)
{
	struct timespec now;
	const char *at = getenv("STEP_AT"), *by = getenv("STEP_S");

	if (!real_clock)
		real_clock = dlsym(RTLD_NEXT, "clock_gettime");
	real_clock(CLOCK_MONOTONIC, &now);
	int result = real_clock(clock, time);

	if ((clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI) && at && by &&
	    now.tv_sec * 1000000000l + now.tv_nsec >= atol(at))
		time->tv_sec += atol(by);
	return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (seconds)
		*seconds = now.tv_sec;
	return now.tv_sec;
}
