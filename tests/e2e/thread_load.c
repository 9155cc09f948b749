/* SPDX-License-Identifier: MIT */
/*
 * Three threads that are each somewhere else: `main` waits in join_here(), `spinner` computes in spin_here(), `sleeper`
 * sleeps in nap_here(). thread_load MS; prints "spinner=TID sleeper=TID". Compiled by stacks.py.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long end_ms;
static int tids[2];

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noipa)) static void *spin_here(void *unused)
{
	tids[0] = gettid();
	pthread_setname_np(pthread_self(), "spinner");
	while (now_ms() < end_ms)
		for (volatile int i = 0; i < 100000; i++)
			;
	return unused;
}

__attribute__((noipa)) static void *nap_here(void *unused)
{
	tids[1] = gettid();
	pthread_setname_np(pthread_self(), "sleeper");
	while (now_ms() < end_ms)
		usleep(3000);
	return unused;
}

__attribute__((noipa)) static void join_here(pthread_t *threads)
{
	usleep(100000); /* until the recorder knows the program's code */
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	end_ms = now_ms() + (argc > 1 ? atol(argv[1]) : 0);
	pthread_create(&threads[0], NULL, spin_here, NULL);
	pthread_create(&threads[1], NULL, nap_here, NULL);
	join_here(threads);
	printf("spinner=%d sleeper=%d\n", tids[0], tids[1]);
	return 0;
}
