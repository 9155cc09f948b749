// SPDX-License-Identifier: MIT
// Three processes after each other with the same number (clone3 with set_tid). Prints a line for each: name, number,
// the CPU time that the kernel accounts to it, and its calls of getppid.
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *name;
	double seconds;
	int calls;
} processes[] = {{"reuse_a", 0.15, 111}, {"reuse_b", 0.3, 222}, {"reuse_b", 0.2, 333}};

static void compute(double seconds)
{
	struct timespec time;
	do {
		for (volatile int i = 0; i < 2000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	} while (time.tv_sec + time.tv_nsec / 1e9 < seconds);
}

int main(void)
{
	pid_t wanted = getpid() > 20000 ? 7777 : 27777;
	while (!kill(wanted, 0))
		wanted++;
	for (int n = 0; n < 3; n++) {
		struct clone_args arguments = {
		    .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&wanted, .set_tid_size = 1};
		struct rusage usage;
		long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
		if (pid < 0)
			return 1;
		if (!pid) {
			prctl(PR_SET_NAME, processes[n].name);
			for (int i = 0; i < processes[n].calls; i++)
				syscall(SYS_getppid);
			compute(processes[n].seconds);
			_exit(0);
		}
		wait4(pid, 0, 0, &usage);
		printf("%s pid=%ld cpu_us=%ld calls=%d\n", processes[n].name, pid,
		       1000000 * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + usage.ru_utime.tv_usec +
			   usage.ru_stime.tv_usec,
		       processes[n].calls);
	}
	return 0;
}
