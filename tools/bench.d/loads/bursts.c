// SPDX-License-Identifier: MIT
/*
 * A load of the bench `plan`: a program that posts events of its own in bursts at full speed.
 *
 *   bursts CPU EVENTS BURST PERIOD_US   EVENTS in all, BURST at once, a burst begins PERIOD_US after the one before
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <monitor/edc.h>

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "load.h"

EDC_EVENT(tick, "arg: u16 number");

int main(int count, char **argument)
{
	if (count != 5)
		return 2;

	uint64_t events = strtoull(argument[2], NULL, 10), burst = strtoull(argument[3], NULL, 10);
	uint64_t period = strtoull(argument[4], NULL, 10) * 1000, next = now_ns(CLOCK_MONOTONIC);

	pin_to(atol(argument[1]));
	for (uint64_t posted = 0; posted < events; posted += burst) {
		for (uint64_t i = 0; i < burst; i++)
			edc(tick, i);
		next += period;

		struct timespec at = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	return 0;
}
