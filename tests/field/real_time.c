// SPDX-License-Identifier: MIT
// On one CPU "normal" computes 0.8 s of wall time, and "fifo", of a real-time class, takes the CPU from it from 0.2 s
// to 0.5 s. Prints for each its id and what the kernel accounts to it, up to its end: CPU time and the time that it
// waited for the CPU.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void child(const char *name, int priority, double from, double to)
{
	struct sched_param parameter = {priority};
	if (fork())
		return;
	prctl(PR_SET_NAME, name);
	if (priority && sched_setscheduler(0, SCHED_FIFO, &parameter))
		exit(77);
	while (now() < from)
		usleep(1000);
	while (now() < to)
		for (volatile int i = 0; i < 500; i++)
			;
	exit(0);
}

int main(void)
{
	int status;
	cpu_set_t cpus;
	double start = now();
	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
	child("normal", 0, start, start + 0.8);
	child("fifo", 10, start + 0.2, start + 0.5);
	for (siginfo_t ended; !waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);) {
		char path[64], name[16];
		unsigned long cpu, waited;
		FILE *file;
		snprintf(path, sizeof path, "/proc/%d/comm", ended.si_pid);
		file = fopen(path, "r");
		if (fscanf(file, "%15s", name) != 1)
			return 1;
		fclose(file);
		snprintf(path, sizeof path, "/proc/%d/schedstat", ended.si_pid);
		file = fopen(path, "r");
		if (fscanf(file, "%lu %lu", &cpu, &waited) != 2)
			return 1;
		fclose(file);
		printf("%s pid=%d cpu_ns=%lu waited_ns=%lu\n", name, ended.si_pid, cpu, waited);
		waitpid(ended.si_pid, &status, 0);
		if (WEXITSTATUS(status))
			return WEXITSTATUS(status);
	}
	return 0;
}
