/* SPDX-License-Identifier: MIT */
/*
 * A load whose segments are known: segment_load THREADS STEPS. Each thread calls step() so many times, which touches
 * PAGES pages that nobody has touched before: so many page faults from one call to the next.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 3

static long steps;

__attribute__((noinline)) void step(volatile char *pages, long page)
{
	for (int i = 0; i < PAGES; i++)
		pages[i * page] = 1;
}

static void *run(void *unused)
{
	const long page = sysconf(_SC_PAGESIZE);
	const size_t size = (size_t)(steps * PAGES * page);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (long i = 0; i < steps; i++)
		step(memory + i * PAGES * page, page);
	return unused;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t all[64];

	steps = argc > 2 ? atol(argv[2]) : 0;
	if (threads < 1 || threads > 64 || steps < 1) {
		fprintf(stderr, "usage: segment_load THREADS STEPS\n");
		return 2;
	}
	for (int i = 0; i < threads; i++)
		pthread_create(&all[i], NULL, run, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	return 0;
}
