/* SPDX-License-Identifier: MIT */
/*
 * Activities whose instructions are known: counted_activities FEW MANY. Two processes (a fork's child has counters of
 * its own) of two threads each: every thread does `few`, a loop of FEW rounds of 5 instructions, and `many`, one of
 * MANY, ten times each, and all take turns on CPU 0.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop.h"
#include "monitor/edc.h"

EDC_ACTIVITY(few, "");
EDC_ACTIVITY(many, "");

static unsigned long rounds[2];

static void *run(void *unused)
{
	for (int i = 0; i < 10; i++) {
		edc_begin(few, 0);
		loop(rounds[0]);
		edc_end(few, 0);
		edc_begin(many, 0);
		loop(rounds[1]);
		edc_end(many, 0);
	}
	return unused;
}

static void run_two(void)
{
	pthread_t other;

	pthread_create(&other, NULL, run, NULL);
	run(NULL);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	cpu_set_t cpu0;

	if (argc != 3) {
		fprintf(stderr, "usage: counted_activities FEW MANY\n");
		return 2;
	}
	rounds[0] = strtoul(argv[1], NULL, 10);
	rounds[1] = strtoul(argv[2], NULL, 10);
	CPU_ZERO(&cpu0);
	CPU_SET(0, &cpu0);
	if (sched_setaffinity(0, sizeof cpu0, &cpu0)) {
		perror("counted_activities: sched_setaffinity");
		return 1;
	}
	run_two(); /* so the child has counters from before it was born */

	const pid_t child = fork();

	run_two();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return 0;
}
