/* SPDX-License-Identifier: MIT */
/* What the loads of the benches share: they pin themselves and measure their own time. Included by workload.c and
 * user_load.c, behind _GNU_SOURCE. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pin_to(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		fail("sched_setaffinity");
}

#endif
