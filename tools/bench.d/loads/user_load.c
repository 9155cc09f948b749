// SPDX-License-Identifier: MIT
/*
 * The loads of the bench `user`: a program with events of its own. user_lttng.c is the same program with LTTng-UST's.
 * Only libc and pthread: what such a program costs must not depend on anything of ours but edc.h.
 *
 *   user_load asked CPU              For each line "CHUNKS CALLS KIND..." of its input: CHUNKS times a chunk of CALLS
 *                                    of each kind in turn; prints the median ns of CPU time per call of each kind
 *   user_load paced SECONDS PER_MS   2 threads, PER_MS events each in every millisecond; prints how many were posted
 *   user_load unpaced SECONDS        2 threads at full speed; prints how many were posted
 *   user_load activities SECONDS PER_MS
 *                                    as paced, but begins and ends of activities in turn; not with LTTng
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef POST_16 /* user_lttng.c has its own */
#include <monitor/edc.h>

EDC_EVENT(step, "arg: u16 number");
EDC_EVENT(sized, "arg: u16 number; u64 bytes (B)");
EDC_ACTIVITY(work, "arg: u16 number");

#define POST_16(number) edc(step, number)
#define POST_64(number) edc_data(sized, number, number)
#define POST_ACTIVITY(number)            \
	do {                             \
		edc_begin(work, number); \
		edc_end(work, number);   \
	} while (0)
#endif

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum { threads = 2, max_chunks = 1000, max_kinds = 16, array_pairs = 120, times_over = 6, divisions = 28 };

/* ---- about 90 ns of work: functions, so that it is the same code, as it lies, in every kind ---- */

typedef double pair __attribute__((vector_size(16)));

static pair array[array_pairs], sums[8];
static double quotient = 3;

/* Independent multiply-adds in L1, enough of them that none waits for another: as much at once as the machine can. */
static __attribute__((noinline, aligned(64))) void multiply_add(void)
{
	pair a = sums[0], b = sums[1], c = sums[2], d = sums[3], e = sums[4], f = sums[5], g = sums[6], h = sums[7];

	for (int times = 0; times < times_over; times++) {
		for (int i = 0; i < array_pairs; i += 8) {
			a += array[i] * 1.5;
			b += array[i + 1] * 1.5;
			c += array[i + 2] * 1.5;
			d += array[i + 3] * 1.5;
			e += array[i + 4] * 1.5;
			f += array[i + 5] * 1.5;
			g += array[i + 6] * 1.5;
			h += array[i + 7] * 1.5;
		}
	}
	sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d, sums[4] = e, sums[5] = f, sums[6] = g, sums[7] = h;
}

/* Each division waits for the one before, also for that of the call before. */
static __attribute__((noinline, aligned(64))) void divide(void)
{
	double x = quotient;

	for (int i = 0; i < divisions; i++)
		x = 7 / x;
	quotient = x;
}

/* ---- what is compared ---- */

static inline __attribute__((always_inline)) void read_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
}

/* The barrier keeps loops alike that would else be unrolled or left out. */
#define KIND(name, work, post)                             \
	static void name(uint64_t calls)                   \
	{                                                  \
		for (uint64_t i = 0; i < calls; i++) {     \
			work;                              \
			post;                              \
			__asm__ volatile("" ::: "memory"); \
		}                                          \
	}

KIND(empty, , )
KIND(rdtsc, , read_tsc())
KIND(post_16, , POST_16(i))
KIND(post_64, , POST_64(i))
KIND(multiply, multiply_add(), )
KIND(multiply_rdtsc, multiply_add(), read_tsc())
KIND(multiply_16, multiply_add(), POST_16(i))
KIND(multiply_64, multiply_add(), POST_64(i))
KIND(divide_only, divide(), )
KIND(divide_rdtsc, divide(), read_tsc())
KIND(divide_16, divide(), POST_16(i))
KIND(divide_64, divide(), POST_64(i))

static const struct kind {
	const char *name;
	void (*loop)(uint64_t calls);
} kinds[] = {
    {"empty", empty},
    {"rdtsc", rdtsc},
    {"16", post_16},
    {"64", post_64},
    {"multiply", multiply},
    {"multiply-rdtsc", multiply_rdtsc},
    {"multiply-16", multiply_16},
    {"multiply-64", multiply_64},
    {"divide", divide_only},
    {"divide-rdtsc", divide_rdtsc},
    {"divide-16", divide_16},
    {"divide-64", divide_64},
};

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	fprintf(stderr, "user_load: there is no kind %s\n", name);
	exit(2);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* One line of the input: "CHUNKS CALLS KIND...". */
static void answer(char *line)
{
	static double ns[max_kinds][max_chunks];
	const struct kind *asked[max_kinds];
	char *rest = line, *word;
	long chunks = strtol(rest, &rest, 10);
	uint64_t calls = strtoull(rest, &rest, 10);
	int count = 0;

	while ((word = strtok(count ? NULL : rest, " \n")) && count < max_kinds)
		asked[count++] = kind_of(word);
	if (chunks > max_chunks || calls == 0)
		fail("a line of the input");
	for (long i = 0; i < chunks; i++) {
		for (int k = 0; k < count; k++) {
			uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);

			asked[k]->loop(calls);
			ns[k][i] = (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - before) / (double)calls;
		}
	}
	for (int k = 0; k < count; k++) {
		qsort(ns[k], (size_t)chunks, sizeof **ns, compare);
		printf("%.3f ", ns[k][chunks / 2]);
	}
	printf("\n");
	fflush(stdout);
}

static void asked(long cpu)
{
	char line[512];

	for (int i = 0; i < array_pairs; i++)
		array[i] = (pair){i, i};
	pin_to(cpu);
	while (fgets(line, sizeof line, stdin))
		answer(line);
}

/* ---- two threads ---- */

static double seconds;
static uint64_t per_ms; /* 0: unpaced */
static bool is_of_activities;

#ifdef POST_ACTIVITY
static void post_activities(uint64_t calls)
{
	for (uint64_t i = 0; i < calls; i += 2)
		POST_ACTIVITY(i);
}
#endif

static void *post_for(void *argument)
{
	uint64_t *posted = argument;
	uint64_t next = now_ns(CLOCK_MONOTONIC), end = next + (uint64_t)(seconds * 1e9);
	uint64_t calls = per_ms ? per_ms : 10000;

	for (; (per_ms ? next : now_ns(CLOCK_MONOTONIC)) < end; *posted += calls) {
#ifdef POST_ACTIVITY
		if (is_of_activities)
			post_activities(calls);
		else
#endif
			post_16(calls);
		if (!per_ms)
			continue;
		next += 1000000;

		struct timespec at = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	return NULL;
}

static void two_threads(void)
{
	pthread_t all[threads];
	uint64_t posted[threads][16] = {{0}}; /* a cache line apart */

	for (int i = 0; i < threads; i++)
		if (pthread_create(&all[i], NULL, post_for, posted[i]) != 0)
			fail("pthread_create");
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	printf("%llu\n", (unsigned long long)(posted[0][0] + posted[1][0]));
}

int main(int count, char **argument)
{
	const char *load = count > 2 ? argument[1] : "";

	seconds = count > 2 ? atof(argument[2]) : 0;
	if (!strcmp(load, "asked") && count == 3) {
		asked(atol(argument[2]));
	} else if ((!strcmp(load, "paced") || !strcmp(load, "activities")) && count == 4) {
		is_of_activities = *load == 'a';
		per_ms = strtoull(argument[3], NULL, 10);
		two_threads();
	} else if (!strcmp(load, "unpaced") && count == 3) {
		two_threads();
	} else {
		fprintf(stderr, "user_load: unknown load; see the head of user_load.c\n");
		return 2;
	}
	return 0;
}
