/* SPDX-License-Identifier: MIT */
/* What programs that ask /dev/monitor the wrong way expect of it. `error` 0: it is to succeed. */
#ifndef ABUSE_H
#define ABUSE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

static int failures;

static void expect(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("%s: %s (errno %d: %s)\n", program_invocation_short_name, what, errno, strerror(errno));
	failures++;
}

static void call(int device, unsigned long command, void *argument, int error, const char *what)
{
	errno = 0;
	int result = ioctl(device, command, argument);

	expect(error ? result == -1 && errno == error : result == 0, what);
}

static void map(int device, size_t at, size_t bytes, int access, int flags, int error, const char *what)
{
	errno = 0;
	void *place = mmap(NULL, bytes, access, flags, device, (off_t)at);

	expect(error ? place == MAP_FAILED && errno == error : place != MAP_FAILED, what);
	if (place != MAP_FAILED)
		munmap(place, bytes);
}

#endif
