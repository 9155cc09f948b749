// SPDX-License-Identifier: MIT
// A thread that is not the first makes 100 getppid and executes this program again, which makes 200, computes 0.2 s in
// compute(), and prints its id and CPU time.
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char **arguments;

static double cpu(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void compute(double seconds)
{
	double end = cpu() + seconds;
	while (cpu() < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

static void *execute(void *unused)
{
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	execl(arguments[0], arguments[0], "again", (char *)0);
	return unused;
}

int main(int count, char **words)
{
	pthread_t thread;
	arguments = words;
	if (count > 1) {
		for (int i = 0; i < 200; i++)
			syscall(SYS_getppid);
		compute(0.2);
		printf("pid=%d cpu_ns=%.0f\n", getpid(), cpu() * 1e9);
		return 0;
	}
	pthread_create(&thread, 0, wait_for_ever, 0);
	pthread_create(&thread, 0, wait_for_ever, 0);
	pthread_create(&thread, 0, execute, 0);
	pause();
}
