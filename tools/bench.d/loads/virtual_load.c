// SPDX-License-Identifier: MIT
/*
 * Loads for bench virtual, whose times without a recording are compared with those that a recording computes, and what
 * takes these times.
 *
 *   virtual_load calls CPU N             N system calls amid other work, on one CPU
 *   virtual_load pipe CPU OTHER N        N round trips of a byte between two processes
 *   virtual_load pipeline A B C N        N blocks through three processes, which work on each
 *   virtual_load timed FILE CMD...       runs CMD; elapsed and CPU time of it and its descendants into FILE, in ns
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

enum { block_bytes = 512 };

static volatile unsigned long sink;

static void compute(int loops)
{
	unsigned long x = 1;

	for (int i = 0; i < loops; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	sink += x;
}

static void calls(long cpu, long count)
{
	static char memory[1 << 20];

	pin_to(cpu);
	for (long i = 0; i < count; i++) {
		syscall(SYS_getppid);
		compute(300);
		for (int k = 0; k < 1 << 13; k += 64)
			sink += (unsigned long)memory[k + ((i & 63) << 13)]++;
	}
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	return pid;
}

static void make_pipe(int *ends)
{
	if (pipe(ends) < 0)
		fail("pipe");
}

static void round_trips(long cpu, long other, long count)
{
	int there[2], back[2];
	char byte = 1;

	make_pipe(there);
	make_pipe(back);
	if (child() == 0) {
		pin_to(other);
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			if (write(back[1], &byte, 1) != 1)
				break;
		_exit(0);
	}
	pin_to(cpu);
	for (long i = 0; i < count; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			fail("round trip");
	close(there[1]);
	wait(NULL);
}

static void pipeline(const long *cpus, long count)
{
	int first[2], second[2];
	static char block[block_bytes];

	make_pipe(first);
	if (child() == 0) {
		pin_to(cpus[1]);
		close(first[1]);
		make_pipe(second);
		if (child() == 0) {
			pin_to(cpus[2]);
			close(second[1]);
			while (read(second[0], block, sizeof block) > 0)
				compute(300);
			_exit(0);
		}
		for (ssize_t got; (got = read(first[0], block, sizeof block)) > 0;) {
			compute(800);
			if (write(second[1], block, (size_t)got) != got)
				fail("write");
		}
		close(second[1]);
		wait(NULL);
		_exit(0);
	}
	pin_to(cpus[0]);
	close(first[0]);
	for (long i = 0; i < count; i++) {
		compute(200);
		if (write(first[1], block, sizeof block) != sizeof block)
			fail("write");
	}
	close(first[1]);
	wait(NULL);
}

static double ns_of(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

static void timed(const char *path, char **command)
{
	int start[2], status;
	char byte = 1;
	struct rusage usage;
	FILE *file = fopen(path, "w");

	if (!file)
		fail(path);
	make_pipe(start);
	pid_t pid = child();
	if (pid == 0) {
		if (read(start[0], &byte, 1) != 1)
			_exit(1);
		execvp(command[0], command);
		fail(command[0]);
	}
	usleep(1000); /* it waits, as a recorded command does until the recording begins */
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	if (write(start[1], &byte, 1) != 1 || waitpid(pid, &status, 0) != pid || status != 0)
		fail(command[0]);
	uint64_t ended = now_ns(CLOCK_MONOTONIC);
	getrusage(RUSAGE_CHILDREN, &usage);
	fprintf(file, "%.0f %.0f\n", (double)(ended - began), ns_of(usage.ru_utime) + ns_of(usage.ru_stime));
	fclose(file);
}

int main(int count, char **argument)
{
	const char *verb = count > 1 ? argument[1] : "";
	long number[4] = {0, 0, 0, 0};

	for (int i = 0; i < 4 && i + 2 < count; i++)
		number[i] = atol(argument[i + 2]);
	if (!strcmp(verb, "calls") && count == 4)
		calls(number[0], number[1]);
	else if (!strcmp(verb, "pipe") && count == 5)
		round_trips(number[0], number[1], number[2]);
	else if (!strcmp(verb, "pipeline") && count == 6)
		pipeline(number, number[3]);
	else if (!strcmp(verb, "timed") && count > 3)
		timed(argument[2], argument + 3);
	else
		return fprintf(stderr, "virtual_load: unknown load; see the head of virtual_load.c\n"), 2;
	return 0;
}
