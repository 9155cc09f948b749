// SPDX-License-Identifier: MIT
// 20 children by vfork, which sleep 20 ms before they execute true(1), and 20 by posix_spawn. Prints the id and the
// time spent in vfork.
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(void)
{
	double inside = 0;
	prctl(PR_SET_NAME, "vforker");
	for (int i = 0; i < 20; i++) {
		double start = now();
		pid_t child = vfork();
		if (!child) {
			struct timespec time = {0, 20000000};
			nanosleep(&time, 0);
			execl("/bin/true", "true", (char *)0);
			_exit(1);
		}
		inside += now() - start;
		waitpid(child, 0, 0);
	}
	for (int i = 0; i < 20; i++) {
		pid_t child;
		char *words[] = {"true", 0};
		posix_spawn(&child, "/bin/true", 0, 0, words, environ);
		waitpid(child, 0, 0);
	}
	printf("pid=%d inside_ns=%.0f\n", getpid(), inside * 1e9);
	return 0;
}
