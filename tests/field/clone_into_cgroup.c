// SPDX-License-Identifier: MIT
// A child is born in the cgroup argv[1] (clone3, CLONE_INTO_CGROUP), as container runtimes do, and computes for 0.2 s;
// its own child for 0.1 s more.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void compute(double seconds)
{
	struct timespec used;

	do
		for (volatile int i = 0; i < 2000; i++)
			;
	while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), used.tv_sec + used.tv_nsec / 1e9 < seconds);
}

int main(int argc, char **argv)
{
	struct clone_args arguments = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
	long pid;

	if (argc < 2)
		return 2;
	arguments.cgroup = open(argv[1], O_RDONLY | O_DIRECTORY);
	pid = syscall(SYS_clone3, &arguments, sizeof arguments);
	if (pid < 0) {
		perror("clone3");
		return 77;
	}
	if (pid == 0) {
		prctl(PR_SET_NAME, "born_inside");
		compute(0.2);
		if (fork() == 0) {
			prctl(PR_SET_NAME, "grandchild");
			compute(0.1);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	compute(0.1);
	return 0;
}
