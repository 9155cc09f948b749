// SPDX-License-Identifier: MIT
// The first thread ends by pthread_exit, another goes on for as many seconds as the argument says, half of it
// computing. Prints the ids of both, and at the end the CPU time of the process.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds;

static double now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void *work(void *unused)
{
	double end = now(CLOCK_MONOTONIC) + seconds;
	prctl(PR_SET_NAME, "worker");
	printf("pid=%d tid=%ld\n", getpid(), syscall(SYS_gettid));
	fflush(stdout);
	while (now(CLOCK_MONOTONIC) < end) {
		double computed = now(CLOCK_THREAD_CPUTIME_ID) + 0.02;
		while (now(CLOCK_THREAD_CPUTIME_ID) < computed)
			for (volatile int i = 0; i < 20000; i++)
				;
		usleep(20000);
	}
	printf("cpu_ns=%.0f\n", now(CLOCK_PROCESS_CPUTIME_ID) * 1e9);
	exit(unused != NULL);
}

int main(int count, char **words)
{
	pthread_t thread;
	(void)count;
	seconds = atof(words[1]);
	prctl(PR_SET_NAME, "leader");
	pthread_create(&thread, 0, work, 0);
	pthread_exit(0);
}
