// SPDX-License-Identifier: MIT
/*
 * A disk of SLOW_DISK_MBS megabytes a second, preloaded into a recorder: writev() returns when such a disk would have
 * taken what it wrote.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

ssize_t writev(int file, const struct iovec *parts, int count)
{
	const char *rate = getenv("SLOW_DISK_MBS");
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);

	ssize_t written = syscall(SYS_writev, file, parts, count);

	if (rate && written > 0) {
		uint64_t until = (uint64_t)at.tv_nsec + (uint64_t)((double)written / atof(rate) * 1e3);

		at.tv_sec += (time_t)(until / 1000000000u);
		at.tv_nsec = (long)(until % 1000000000u);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	return written;
}
