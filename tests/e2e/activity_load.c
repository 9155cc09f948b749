/* SPDX-License-Identifier: MIT */
/*
 * Activities whose times are known, for activities.py: `activity_load NAPS SPINS`.
 *   NAPS times a `nap`, a sleep of 2 ms, in a `round` together with an empty `step`
 *   SPINS times a `spin` of 5 ms of the thread's CPU time
 *   a `recurse` of 10 levels; a `lonely` begin and two `lonely` ends, which make three unpaired events
 *   4 threads that nap 10 times each in `job`, with the thread's number as argument
 * Prints the CPU time that the spins took: "spin_ns=N".
 */
#define _GNU_SOURCE
#include <monitor/edc.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

EDC_ACTIVITY(round, "arg: u16 number");
EDC_ACTIVITY(nap, "");
EDC_ACTIVITY(step, "");
EDC_ACTIVITY(spin, "arg: token how {fast = 0, slow = 1}");
EDC_ACTIVITY(recurse, "arg: u16 level");
EDC_ACTIVITY(job, "arg: u16 worker");
EDC_EVENT(lonely_begin, "");
EDC_EVENT(lonely_end, "arg: u16 worker; u64 bytes (B)");

enum { workers = 4, jobs = 10 };

static void sleep_ms(long ms)
{
	struct timespec time = {0, ms * 1000000};

	nanosleep(&time, NULL);
}

static long cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void spin_ms(long ms)
{
	const long end = cpu_ns() + ms * 1000000;

	while (cpu_ns() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static void recurse(unsigned level)
{
	edc_begin(recurse, level);
	spin_ms(1);
	if (level > 1)
		recurse(level - 1);
	edc_end(recurse, level);
}

static void *work(void *argument)
{
	const unsigned worker = (unsigned)(uintptr_t)argument;

	for (int i = 0; i < jobs; i++) {
		edc_begin(job, worker);
		sleep_ms(1);
		edc_end(job, worker);
	}
	return NULL;
}

int main(int count, char **argument)
{
	const long naps = count > 2 ? atol(argument[1]) : 0, spins = count > 2 ? atol(argument[2]) : 0;
	pthread_t threads[workers];
	long spun;

	edc_data(lonely_end, 0, 1); /* without a begin; and it connects */
	for (long i = 0; i < naps; i++) {
		edc_begin(round, i);
		edc_begin(nap, 0);
		sleep_ms(2);
		edc_end(nap, 0);
		edc_begin(step, 0);
		edc_end(step, 0);
		edc_end(round, i);
	}
	spun = cpu_ns();
	for (long i = 0; i < spins; i++) {
		edc_begin(spin, i & 1);
		spin_ms(5);
		edc_end(spin, i & 1);
	}
	spun = cpu_ns() - spun;
	recurse(10);
	for (uintptr_t i = 0; i < workers; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
	edc_data(lonely_end, 1, 2);
	edc(lonely_begin, 0);
	printf("spin_ns=%ld\n", spun);
	return 0;
}
