/* SPDX-License-Identifier: MIT */
/*
 * Workloads whose events are known: `workload VERB NUMBER`. Called by the end-to-end tests, mostly under `monitor
 * record`. At its end every verb prints one line of key=value: what it did and what the kernel says it took
 * (getrusage of the process, CPU clock of the thread).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *self;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void done(void)
{
	struct rusage usage;
	int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	getrusage(RUSAGE_SELF, &usage);
	printf("pid=%d cpu_ns=%lld user_us=%lld system_us=%lld nvcsw=%ld nivcsw=%ld minflt=%ld majflt=%ld\n", getpid(),
	       (long long)cpu_ns, usage.ru_utime.tv_sec * 1000000ll + usage.ru_utime.tv_usec,
	       usage.ru_stime.tv_sec * 1000000ll + usage.ru_stime.tv_usec, usage.ru_nvcsw, usage.ru_nivcsw,
	       usage.ru_minflt, usage.ru_majflt);
}

static void fail(const char *what)
{
	perror(what);
	exit(99);
}

static void do_getppid(long calls)
{
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
}

/* `rounds` bytes to a child and back; both on their own CPU if there are two. */
static void do_pingpong(long rounds)
{
	int there[2], back[2];
	char byte = 0;
	pid_t child;

	if (pipe(there) || pipe(back) || (child = fork()) < 0)
		fail("pipe");
	for (long i = 0; i < rounds; i++) {
		if (child) {
			if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
				fail("ping");
		} else if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1) {
			fail("pong");
		}
	}
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	printf("child=%d ", child);
}

static void do_forks(long count)
{
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

/* So many processes at a time as may run, in all `count`. */
static void do_swarm(long count)
{
	long running = 0;

	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (!child)
			_exit(0);
		if (++running == 50)
			for (; running; running--)
				waitpid(-1, NULL, 0);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* Code that comes and goes for `ms`, as fast as the kernel maps it. */
static void do_maps(long ms)
{
	const int64_t end = clock_ns(CLOCK_MONOTONIC) + ms * 1000000;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (code == MAP_FAILED)
			fail("mmap");
		munmap(code, 4096);
	}
}

static void do_touch(long pages)
{
	size_t size = (size_t)pages * 4096;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	printf("from=%llu to=%llu ", (unsigned long long)(uintptr_t)memory,
	       (unsigned long long)(uintptr_t)memory + size);
}

static void do_spin(long ms)
{
	int64_t end = clock_ns(CLOCK_MONOTONIC) + ms * 1000000ll; /* without a system call, in the vDSO */

	while (clock_ns(CLOCK_MONOTONIC) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static void do_nap(long count)
{
	struct timespec ms = {0, 1000000};

	for (long i = 0; i < count; i++)
		syscall(SYS_nanosleep, &ms, NULL);
}

/* Page faults, then system calls, then some time for the other CPU and the timer. */
static void do_mixed(long count)
{
	do_touch(count);
	do_getppid(count);
	do_spin(50);
	do_nap(20);
}

static pthread_barrier_t all_there;

static void *wait_for_all(void *unused)
{
	pthread_barrier_wait(&all_there);
	return unused;
}

static void do_threads(long count)
{
	pthread_t threads[1000];
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	pthread_barrier_init(&all_there, NULL, (unsigned)count + 1);
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, wait_for_all, NULL))
			fail("pthread_create");
	pthread_barrier_wait(&all_there);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void *rename_and_work(void *number)
{
	char name[16];

	snprintf(name, sizeof name, "renamed-%ld", (long)number);
	prctl(PR_SET_NAME, name);
	do_spin(5);
	printf("tid%ld=%ld ", (long)number, syscall(SYS_gettid));
	return NULL;
}

static void do_rename(long count)
{
	for (long i = 0; i < count; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, rename_and_work, (void *)i);
		pthread_join(thread, NULL);
	}
}

static void *exec_here(void *calls)
{
	printf("old_tid=%ld ", syscall(SYS_gettid));
	fflush(stdout);
	execl(self, self, "getppid", (char *)calls, NULL);
	return NULL;
}

/* A thread that is not the leader starts a program: it takes over the leader's number. */
static void do_exec_thread(long calls)
{
	char text[24];
	pthread_t thread;

	snprintf(text, sizeof text, "%ld", calls);
	pthread_create(&thread, NULL, exec_here, text);
	pthread_join(thread, NULL);
	fail("execl");
}

static void *call_for_ever(void *unused)
{
	for (;;)
		syscall(SYS_getppid);
	return unused;
}

static void *fault_for_ever(void *unused)
{
	for (;;) {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			fail("mmap");
		*page = 1;
		munmap(page, 4096);
	}
	return unused;
}

static void *exec_next(void *left)
{
	execl(self, self, "exec_chain", (char *)left, NULL);
	fail("execl");
	return NULL;
}

/* So many programs, each started by a thread of the one before, whose other threads run, the leader too. */
static void do_exec_chain(long left)
{
	char text[24];
	pthread_t thread;

	for (int i = 0; i < 100; i++)
		syscall(SYS_getpgid, 0);
	if (!left)
		return;
	snprintf(text, sizeof text, "%ld", left - 1);
	pthread_create(&thread, NULL, call_for_ever, NULL);
	pthread_create(&thread, NULL, fault_for_ever, NULL);
	pthread_create(&thread, NULL, exec_next, text);
	call_for_ever(NULL);
}

/* Forks a child every 10 ms that makes 10 system calls, until it is killed. */
static void do_family(long calls)
{
	for (;;) {
		pid_t child = fork();

		if (!child) {
			do_getppid(calls);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		do_nap(10);
	}
}

/* System calls of several kinds and results, the same ones each time; results beyond 16 bits have tokens of their own.
 */
static void do_results(long rounds)
{
	static char bytes[70000];
	int null = open("/dev/null", O_WRONLY);

	for (long i = 0; i < rounds; i++) {
		syscall(SYS_getuid);
		syscall(SYS_close, -1);
		syscall(SYS_lseek, null, i, SEEK_SET);
		syscall(SYS_write, null, bytes, (size_t)(i * 977 % 70000));
		syscall(SYS_getpgid, 1 << 30);
	}
	close(null);
}

static const struct {
	const char *name;
	void (*run)(long);
} verbs[] = {
    {"getppid", do_getppid},
    {"pingpong", do_pingpong},
    {"forks", do_forks},
    {"swarm", do_swarm},
    {"maps", do_maps},
    {"touch", do_touch},
    {"spin", do_spin},
    {"nap", do_nap},
    {"threads", do_threads},
    {"rename", do_rename},
    {"family", do_family},
    {"mixed", do_mixed},
    {"results", do_results},
    {"exec_thread", do_exec_thread},
    {"exec_chain", do_exec_chain},
};

int main(int argc, char **argv)
{
	self = argv[0];
	for (size_t i = 0; argc == 3 && i < sizeof verbs / sizeof verbs[0]; i++) {
		if (strcmp(argv[1], verbs[i].name))
			continue;
		verbs[i].run(atol(argv[2]));
		done();
		return 0;
	}
	fprintf(stderr, "usage: workload VERB NUMBER\n");
	return 99;
}
