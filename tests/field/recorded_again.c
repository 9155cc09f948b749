// SPDX-License-Identifier: MIT
// A service of several threads that post their numbered events until the service is ended. recorded_again THREADS
// MICROSECONDS What locks its memory instead, posts, and says whether it gets more: recorded_again lock|lock-later
#define _GNU_SOURCE
#include <monitor/edc.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

EDC_EVENT(beat, "u64 number");

static unsigned nap_us;

static void *beats(void *unused)
{
	for (unsigned long number = 0;; number++) {
		edc_data(beat, 0, number);
		if (nap_us)
			usleep(nap_us);
	}
	return unused;
}

static int locked(int later)
{
	void *more;

	if (later && fork() != 0)
		return 0;
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
		printf("not locked: %s\n", strerror(errno));
		return 1;
	}
	for (int i = 0; i < 200; i++) {
		edc_data(beat, 0, i);
		usleep(1000);
	}
	more = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("2 MiB more: %s\n", more == MAP_FAILED ? strerror(errno) : "yes");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return locked(strcmp(argv[1], "lock-later") == 0);
	if (argc != 3)
		return 2;
	nap_us = atoi(argv[2]);
	for (int i = 1; i < atoi(argv[1]); i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, beats, NULL);
	}
	beats(NULL);
	return 0;
}
