// SPDX-License-Identifier: MIT
// On one CPU "hog" computes while "timed" sleeps 100 times 4 ms: the timer that wakes it interrupts the hog.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
	pid_t hog = fork();
	if (!hog) {
		prctl(PR_SET_NAME, "hog");
		for (;;)
			;
	}
	if (!fork()) {
		struct timespec time = {0, 4000000};
		prctl(PR_SET_NAME, "timed");
		setpriority(PRIO_PROCESS, 0, -15);
		for (int i = 0; i < 100; i++)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0);
		_exit(0);
	}
	wait(0);
	kill(hog, SIGKILL);
	wait(0);
	return 0;
}
