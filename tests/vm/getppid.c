/* SPDX-License-Identifier: MIT */
/*
 * A load whose number of system calls is known: getppid TASKS CALLS starts TASKS processes pinned to CPU 0, each of
 * which calls getppid CALLS times, all at once, so that they preempt each other there. Prints the number of calls
 * that were made, "getppid calls: N". The C library makes no such call by itself.
 * Linked statically by tests/vm/run for tests/vm/getppid.sh; works anywhere else as well.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(int gate, long calls, long *made)
{
	cpu_set_t cpu0;
	char byte;

	CPU_ZERO(&cpu0);
	CPU_SET(0, &cpu0);
	if (sched_setaffinity(0, sizeof cpu0, &cpu0))
		_exit(1);
	if (read(gate, &byte, 1) != 0) /* the end of the pipe: every task is there */
		_exit(1);
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	*made = calls;
	_exit(0);
}

int main(int argc, char **argv)
{
	const int tasks = argc == 3 ? atoi(argv[1]) : 0;
	const long calls = argc == 3 ? atol(argv[2]) : 0;
	int gate[2], status, failed = 0;
	long *made, sum = 0;

	if (tasks < 1 || tasks > 512 || calls < 1) {
		fprintf(stderr, "usage: getppid TASKS CALLS\n");
		return 2;
	}
	made = mmap(NULL, tasks * sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED || pipe(gate)) {
		perror("getppid");
		return 1;
	}
	for (int i = 0; i < tasks; i++) {
		const pid_t pid = fork();

		if (pid < 0) {
			perror("getppid: fork");
			return 1;
		}
		if (pid == 0) {
			close(gate[1]);
			call(gate[0], calls, &made[i]);
		}
	}
	close(gate[1]);
	while (wait(&status) > 0)
		failed |= status != 0;
	for (int i = 0; i < tasks; i++)
		sum += made[i];
	printf("getppid calls: %ld\n", sum);
	return failed;
}
