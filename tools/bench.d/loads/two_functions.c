// SPDX-License-Identifier: MIT
/*
 * two_functions SECONDS: three_parts() and one_part() take turns of 150 and 50 us until the thread has run this long,
 * and then it prints how many seconds of CPU time each took, by the thread's own clock. A profile must find these
 * shares.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void three_parts(long turns)
{
	uint64_t value = sink;

	for (long i = 0; i < 3 * turns; i++)
		value = value * 6364136223846793005ull + 1442695040888963407ull;
	sink = value;
}

__attribute__((noinline)) static void one_part(long turns)
{
	uint64_t value = sink + 1;

	for (long i = 0; i < turns; i++)
		value = value * 2862933555777941757ull + 3037000493ull;
	sink = value;
}

int main(int count, char **argument)
{
	const double seconds = count > 1 ? atof(argument[1]) : 1, begin = cpu_s();
	const long trial = 2000000;
	double three = 0, one = 0;

	one_part(trial);

	const long turns = (long)(50e-6 / ((cpu_s() - begin) / trial)) + 1;

	while (three + one < seconds) {
		double first = cpu_s(), second;

		three_parts(turns);
		second = cpu_s();
		three += second - first;
		one_part(turns);
		one += cpu_s() - second;
	}
	printf("%.6f %.6f\n", three, one);
	return 0;
}
