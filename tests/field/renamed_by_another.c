// SPDX-License-Identifier: MIT
// A thread called "t_one" computes, is renamed "t_two" by the first thread, and computes 0.2 s more, all in compute().
// Prints both ids and the thread's CPU time.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int step;
static volatile long tid;

static double cpu(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void compute(double seconds)
{
	double end = cpu() + seconds;
	while (cpu() < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

static void *work(void *unused)
{
	prctl(PR_SET_NAME, "t_one");
	tid = syscall(SYS_gettid);
	compute(0.2);
	step = 1;
	while (step != 2)
		usleep(1000);
	compute(0.2);
	printf("pid=%d tid=%ld cpu_ns=%.0f\n", getpid(), tid, cpu() * 1e9);
	return unused;
}

int main(void)
{
	char path[64];
	pthread_t thread;
	prctl(PR_SET_NAME, "the_main");
	pthread_create(&thread, 0, work, 0);
	while (step != 1)
		usleep(1000);
	snprintf(path, sizeof path, "/proc/self/task/%ld/comm", tid);
	int file = open(path, O_WRONLY);
	if (write(file, "t_two", 5) != 5)
		return 1;
	close(file);
	step = 2;
	pthread_join(thread, 0);
	return 0;
}
