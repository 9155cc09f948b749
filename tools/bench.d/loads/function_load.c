// SPDX-License-Identifier: MIT
// What a call takes: function_load CHUNKS CALLS prints ns per call of an empty function, and per two reads of the clock
// that every pair of events needs, each the median of the chunks. Compiled by functions.py, with and without sleds.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void measured(void)
{
	__asm__ volatile("");
}

static void read_clock_twice(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double per_call(void (*what)(void), int chunks, int calls)
{
	double *ns = calloc((size_t)chunks, sizeof *ns), median;
	for (int i = 0; i < chunks; i++) {
		const double start = now();
		for (int j = 0; j < calls; j++)
			what();
		ns[i] = (now() - start) / calls;
	}
	qsort(ns, (size_t)chunks, sizeof *ns, compare);
	median = ns[chunks / 2];
	free(ns);
	return median;
}

int main(int argc, char **argv)
{
	const int chunks = argc > 1 ? atoi(argv[1]) : 1, calls = argc > 2 ? atoi(argv[2]) : 1;
	per_call(measured, 1, calls); // touches the memory of the rings
	printf("%f %f\n", per_call(measured, chunks, calls), per_call(read_clock_twice, chunks, calls));
	return 0;
}
