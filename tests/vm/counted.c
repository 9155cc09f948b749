/* SPDX-License-Identifier: MIT */
/*
 * A load whose number of instructions is known: counted LOOPS... starts a process for each argument, all on CPU 0 at
 * once, so that they take turns there; each goes LOOPS times through a loop of 5 instructions. Prints a line
 * "counted pid=N loops=LOOPS" for each. What else a process executes does not depend on LOOPS if the arguments are of
 * one length, so two processes differ by 5 instructions per loop, exactly.
 * Linked statically by tests/vm/run for tests/vm/counters.sh; works anywhere else as well.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop.h"

int main(int argc, char **argv)
{
	cpu_set_t cpu0;
	int gate[2], status, failed = 0;
	char byte;

	if (argc < 2 || pipe(gate)) {
		fprintf(stderr, "usage: counted LOOPS...\n");
		return 2;
	}
	CPU_ZERO(&cpu0);
	CPU_SET(0, &cpu0);
	if (sched_setaffinity(0, sizeof cpu0, &cpu0)) {
		perror("counted: sched_setaffinity");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		const unsigned long loops = strtoul(argv[i], NULL, 10);
		const pid_t pid = fork();

		if (pid < 0) {
			perror("counted: fork");
			return 1;
		}
		if (pid == 0) {
			close(gate[1]);
			if (read(gate[0], &byte, 1) != 0) /* the end of the pipe: every process is there */
				_exit(1);
			loop(loops);
			_exit(0);
		}
		printf("counted pid=%d loops=%lu\n", pid, loops);
	}
	close(gate[1]);
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
