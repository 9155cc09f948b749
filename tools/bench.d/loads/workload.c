// SPDX-License-Identifier: MIT
/*
 * The loads that the benches trace, and the clock logger that is their witness. Called by the drivers.
 * Every load pins itself, measures its own CPU time, and prints plain numbers.
 *
 *   workload getppid CPU CHUNKS CALLS       W1: ns of CPU time per call, one line per chunk
 *   workload pingpong CPU CHUNKS TRIPS      W2: ns of CPU time of both processes per round trip, one line per chunk
 *   workload getppid-for CPU SECONDS        W1 at full speed; prints the number of calls
 *   workload paced CPU SECONDS PER_MS       PER_MS calls in every millisecond; prints the number of calls
 *   workload mixed LOOPS                    system calls, switches, faults and forks, LOOPS times on each of two CPUs
 *   workload threads N                      N sleeping threads; prints "ready", lives until its input ends
 *   workload spawn N                        N times /bin/true, one after the other; prints the seconds that took
 *   workload stamp                          the monotonic time at which its main() began
 *   workload clocklog CPU SECONDS FILE      (TSC, TSC, CLOCK_MONOTONIC) every millisecond into FILE as three u64 each
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum { max_chunks = 1000, pages_per_loop = 16, calls_per_loop = 64, trips_per_loop = 8, loops_per_fork = 500 };

static void call_many(long calls)
{
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
}

static void print_chunks(const double *chunks, long count)
{
	for (long i = 0; i < count; i++)
		printf("%.3f\n", chunks[i]);
}

static void getppid_chunks(long cpu, long chunks, long calls)
{
	double ns[max_chunks];

	pin_to(cpu);
	call_many(calls);
	for (long i = 0; i < chunks; i++) {
		uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);

		call_many(calls);
		ns[i] = (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - before) / (double)calls;
	}
	print_chunks(ns, chunks);
}

/* A byte to and fro; the partner ends when its input does. */
struct pair {
	int there[2], back[2];
	pid_t partner;
};

static void echo(const struct pair *pair)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(pair->there[1]);
	while (read(pair->there[0], &byte, 1) == 1)
		if (write(pair->back[1], &byte, 1) != 1)
			break;
	_exit(0);
}

static struct pair make_pair(void)
{
	struct pair pair;

	if (pipe(pair.there) < 0 || pipe(pair.back) < 0)
		fail("pipe");
	pair.partner = fork();
	if (pair.partner < 0)
		fail("fork");
	if (pair.partner == 0)
		echo(&pair);
	close(pair.there[0]);
	close(pair.back[1]);
	return pair;
}

static void end_pair(struct pair *pair)
{
	close(pair->there[1]);
	close(pair->back[0]);
	waitpid(pair->partner, NULL, 0);
}

static void make_trips(const struct pair *pair, long trips)
{
	char byte = 1;

	for (long i = 0; i < trips; i++)
		if (write(pair->there[1], &byte, 1) != 1 || read(pair->back[0], &byte, 1) != 1)
			fail("round trip");
}

static void pingpong_chunks(long cpu, long chunks, long trips)
{
	double ns[max_chunks];
	clockid_t partner;

	pin_to(cpu);

	struct pair pair = make_pair();

	if (clock_getcpuclockid(pair.partner, &partner) != 0)
		fail("clock_getcpuclockid");
	make_trips(&pair, trips);
	for (long i = 0; i < chunks; i++) {
		uint64_t before = now_ns(CLOCK_PROCESS_CPUTIME_ID) + now_ns(partner);

		make_trips(&pair, trips);
		ns[i] = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) + now_ns(partner) - before) / (double)trips;
	}
	end_pair(&pair);
	print_chunks(ns, chunks);
}

static void getppid_for(long cpu, double seconds)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	uint64_t calls = 0;

	pin_to(cpu);
	for (; now_ns(CLOCK_MONOTONIC) < end; calls += 1000)
		call_many(1000);
	printf("%llu\n", (unsigned long long)calls);
}

static void paced(long cpu, double seconds, long per_ms)
{
	uint64_t next = now_ns(CLOCK_MONOTONIC), end = next + (uint64_t)(seconds * 1e9);
	uint64_t calls = 0;

	pin_to(cpu);
	for (; next < end; calls += (uint64_t)per_ms) {
		call_many(per_ms);
		next += 1000000;

		struct timespec at = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	printf("%llu\n", (unsigned long long)calls);
}

static void mixed_on(long cpu, long loops)
{
	pin_to(cpu);

	struct pair pair = make_pair();
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * pages_per_loop;

	for (long i = 0; i < loops; i++) {
		call_many(calls_per_loop);
		make_trips(&pair, trips_per_loop);

		volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			fail("mmap");
		for (size_t at = 0; at < size; at += page)
			memory[at] = 1;
		munmap((void *)memory, size);
		if (i % loops_per_fork == 0) {
			pid_t child = fork();

			if (child == 0)
				_exit(0);
			waitpid(child, NULL, 0);
		}
	}
	end_pair(&pair);
}

static void mixed(long loops)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (long worker = 0; worker < 2; worker++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			mixed_on(worker % cpus, loops);
			exit(0);
		}
	}
	for (int status; wait(&status) > 0;)
		if (status)
			exit(1);
}

static void *sleep_long(void *unused)
{
	pause();
	return unused;
}

static void threads(long count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 16);
	for (long i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, sleep_long, NULL) != 0)
			fail("pthread_create");
	puts("ready");
	fflush(stdout);

	char byte;

	while (read(0, &byte, 1) > 0)
		;
}

static void spawn(long count)
{
	char *words[] = {"/bin/true", NULL};
	uint64_t begin = now_ns(CLOCK_MONOTONIC);

	for (long i = 0; i < count; i++) {
		pid_t pid;

		if (posix_spawn(&pid, words[0], NULL, NULL, words, environ) != 0)
			fail("posix_spawn");
		waitpid(pid, NULL, 0);
	}
	printf("%.6f\n", (double)(now_ns(CLOCK_MONOTONIC) - begin) / 1e9);
}

static uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

static void clocklog(long cpu, double seconds, const char *path)
{
	FILE *file = fopen(path, "w");
	uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	struct timespec pause = {0, 1000000};

	if (!file)
		fail(path);
	pin_to(cpu);
	while (now_ns(CLOCK_MONOTONIC) < end) {
		uint64_t best[3] = {0, ~0ull, 0};

		for (int i = 0; i < 5; i++) {
			uint64_t before = ticks(), ns = now_ns(CLOCK_MONOTONIC), after = ticks();

			if (after - before < best[1] - best[0]) {
				best[0] = before;
				best[1] = after;
				best[2] = ns;
			}
		}
		fwrite(best, sizeof best, 1, file);
		nanosleep(&pause, NULL);
	}
	fclose(file);
}

int main(int count, char **argument)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	const char *verb = count > 1 ? argument[1] : "";
	long number[3] = {0, 0, 0};

	for (int i = 0; i < 3 && i + 2 < count; i++)
		number[i] = atol(argument[i + 2]);
	if (!strcmp(verb, "getppid") && count == 5 && number[1] <= max_chunks)
		getppid_chunks(number[0], number[1], number[2]);
	else if (!strcmp(verb, "pingpong") && count == 5 && number[1] <= max_chunks)
		pingpong_chunks(number[0], number[1], number[2]);
	else if (!strcmp(verb, "getppid-for") && count == 4)
		getppid_for(number[0], atof(argument[3]));
	else if (!strcmp(verb, "paced") && count == 5)
		paced(number[0], atof(argument[3]), number[2]);
	else if (!strcmp(verb, "mixed") && count == 3)
		mixed(number[0]);
	else if (!strcmp(verb, "threads") && count == 3)
		threads(number[0]);
	else if (!strcmp(verb, "spawn") && count == 3)
		spawn(number[0]);
	else if (!strcmp(verb, "stamp"))
		printf("%llu\n", (unsigned long long)began);
	else if (!strcmp(verb, "clocklog") && count == 5)
		clocklog(number[0], atof(argument[3]), argument[4]);
	else
		return fprintf(stderr, "workload: unknown load; see the head of workload.c\n"), 2;
	return 0;
}
