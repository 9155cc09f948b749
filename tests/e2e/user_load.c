/* SPDX-License-Identifier: MIT */
/*
 * Loads of the user card's tests. Built twice: as user_load, and as user_load_broken without the protection of the
 * restartable sequence (-DBROKEN), which must then be seen to lose and tear. Every load prints what it posted.
 *
 *   user_load stress EVENTS SIGNALS_US   4 threads that are moved between the CPUs and interrupted by handlers that
 *                                        post too: EVENTS in all by the threads, "posted=N signals=M"
 *   user_load places EVENTS SIGNALS_US   4 threads that move themselves, with handlers that post too: each event says
 * the CPU to which its thread was pinned user_load order CALLS                a token, a getppid, a token, CALLS times
 *   user_load forks N                    N children one after the other, each posts 100; grandchildren of some too
 *   user_load vfork N                    N vfork children that exec true; then 100 events
 *   user_load exec N                     posts 100, then executes itself with N - 1
 *   user_load threads N                  N threads one after the other, 32 at a time, 10 events each
 *   user_load crash EVENTS               posts EVENTS, then dies of SIGSEGV
 *   user_load pause EVENTS               posts EVENTS, prints "ready", waits for its input to end, posts EVENTS twice
 *   user_load burst EVENTS CPUS TIMES    prints "ready", waits for its input to end; then on each of so many CPUs two
 *                                        threads post half of EVENTS each, as fast as they can, TIMES times with 10 ms
 *                                        between
 *   user_load libraries N FILE...        loads each library, lets it post N, posts N itself, and unloads it
 */
#define _GNU_SOURCE
#ifdef BROKEN
/* As edc_post.h has it, but the kernel does not know of the sequence. */
#define EDC_RSEQ_BEGIN_ "4:\n\t1:\n\t"
#endif
#include <monitor/edc.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

EDC_EVENT(step, "arg: u16 thread; u64 number; x64 mark");
EDC_EVENT(signalled, "arg: u16 cpu; u64 number; x64 mark");
EDC_EVENT(before, "arg: u16 low; u64 number");
EDC_EVENT(after, "arg: u16 low; u64 number");
EDC_EVENT(posted, "arg: u16 low");
EDC_EVENT(placed, "arg: u16 cpu");
EDC_EVENT(mistaken, "arg: u16 low; u64 a; token b {x = 1, y = 2}");

enum { threads = 4 };

static pid_t tids[threads];
static atomic_int ready;
static atomic_bool over;
static bool moves = true; /* the disturber moves threads too */
static atomic_ulong signals;
static long events;

static uint64_t mark_of(uint64_t number, uint64_t who)
{
	return (number * 0x9e3779b97f4a7c15u) ^ (who << 56);
}

static void on_signal(int number)
{
	uint64_t n = atomic_fetch_add(&signals, 1);

	(void)number;
	edc_data(signalled, 0, n, mark_of(n, threads));
}

static void *step_on(void *argument)
{
	uint64_t who = (uint64_t)(uintptr_t)argument;

	tids[who] = (pid_t)syscall(SYS_gettid);
	ready++;
	while (ready < threads)
		sched_yield();
	for (uint64_t i = 0; i < (uint64_t)events / threads; i++) {
		edc_data(step, who, i, mark_of(i, who));
		if (i % 5000 == 4999)
			usleep(500); /* a full ring refuses, and shows nothing of the sequence */
	}
	return NULL;
}

/* Moves and interrupts the others. At realtime priority if it may, so that it hits them in the middle. */
static void *disturb(void *argument)
{
	struct sched_param highest = {.sched_priority = 2};
	struct timespec pause = {0, 1000 * *(long *)argument};
	unsigned seed = 1;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	sched_setscheduler(0, SCHED_FIFO, &highest);
	while (!over) {
		for (int i = 0; i < threads; i++) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET((unsigned)rand_r(&seed) % (unsigned)cpus, &set);
			if (moves && rand_r(&seed) & 1)
				sched_setaffinity(tids[i], sizeof set, &set);
			if ((rand_r(&seed) & 3) == 0)
				syscall(SYS_tgkill, getpid(), tids[i], SIGUSR1);
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static __thread unsigned pinned_to;

static void on_signal_in_place(int number)
{
	(void)number;
	signals++;
	edc(placed, pinned_to);
}

static void *move_and_post(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	sigset_t signal, before;

	tids[seed] = (pid_t)syscall(SYS_gettid);
	ready++;
	sigemptyset(&signal);
	sigaddset(&signal, SIGUSR1);
	for (long i = 0; i < events / threads; i++) {
		if (i % 20 == 0) {
			cpu_set_t set;

			pthread_sigmask(SIG_BLOCK, &signal, &before);
			pinned_to = (unsigned)rand_r(&seed) % (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
			CPU_ZERO(&set);
			CPU_SET(pinned_to, &set);
			if (sched_setaffinity(0, sizeof set, &set))
				exit(1);
			pthread_sigmask(SIG_SETMASK, &before, NULL);
		}
		edc(placed, pinned_to);
	}
	return NULL;
}

/* The threads do this, interrupted by that. */
static void disturbed(void *(*body)(void *), void (*handler)(int), long pause_us)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	pthread_t all[threads], disturber;

	sigaction(SIGUSR1, &action, NULL);
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&all[i], NULL, body, (void *)i);
	while (ready < threads)
		sched_yield();
	pthread_create(&disturber, NULL, disturb, &pause_us);
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	over = true;
	pthread_join(disturber, NULL);
	printf("posted=%ld signals=%lu\n", events / threads * threads, signals);
}

static void order(long calls)
{
	edc(mistaken, 1); /* has two words: refused and counted */
	edc_data(mistaken, 1, 2);
	edc_data(mistaken, 1, 2, 1);
	for (long i = 0; i < calls; i++) {
		edc_data(before, i, i);
		syscall(SYS_getppid);
		edc_data(after, i, i);
	}
	printf("posted=%ld mistaken=2\n", 2 * calls + 3);
}

static void post_many(long n)
{
	for (long i = 0; i < n; i++)
		edc(posted, i);
}

static void forks(long n)
{
	long all = 0;

	for (long i = 0; i < n; i++) {
		if (fork() == 0) {
			if (i % 10 == 0 && fork() == 0) {
				post_many(100);
				_exit(0);
			}
			post_many(100);
			while (wait(NULL) > 0)
				;
			_exit(0);
		}
		all += i % 10 == 0 ? 200 : 100;
		if (i % 32 == 31)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	post_many(100);
	printf("posted=%ld\n", all + 100);
}

static void vforks(long n)
{
	for (volatile long i = 0; i < n; i++) {
		pid_t child = vfork();

		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
		edc(posted, i);
	}
	post_many(100);
	printf("posted=%ld\n", n + 100);
}

static void *post_ten(void *argument)
{
	(void)argument;
	post_many(10);
	return NULL;
}

static void many_threads(long n)
{
	pthread_t some[32];

	for (long i = 0; i < n; i += 32) {
		for (int k = 0; k < 32; k++)
			pthread_create(&some[k], NULL, post_ten, NULL);
		for (int k = 0; k < 32; k++)
			pthread_join(some[k], NULL);
	}
	printf("posted=%ld\n", (n + 31) / 32 * 320);
}

static int burst_times, burst_cpus;

static void *post_bursts(void *argument)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((int)(long)argument / 2, &one);
	pthread_setaffinity_np(pthread_self(), sizeof one, &one);
	for (int i = 0; i < burst_times; i++) {
		post_many(events / 2);
		usleep(10000);
	}
	return NULL;
}

static void burst(void)
{
	pthread_t thread[2 * CPU_SETSIZE];
	char byte;

	printf("ready\n");
	while (read(0, &byte, 1) > 0)
		;
	for (long i = 0; i < 2 * burst_cpus; i++)
		pthread_create(&thread[i], NULL, post_bursts, (void *)i);
	for (int i = 0; i < 2 * burst_cpus; i++)
		pthread_join(thread[i], NULL);
	printf("posted=%ld\n", events / 2 * 2 * burst_cpus * burst_times);
}

static void libraries(long n, char **files)
{
	long all = 0;

	for (; *files; files++) {
		void *library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
		void (*post)(long) = NULL;

		if (library)
			*(void **)&post = dlsym(library, "post");
		if (!post) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		post(n);
		post_many(n);
		all += 2 * n;
		dlclose(library);
	}
	printf("posted=%ld\n", all);
}

int main(int count, char **argument)
{
	const char *load = count > 2 ? argument[1] : "";
	long n = count > 2 ? atol(argument[2]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	events = n;
	if (!strcmp(load, "stress")) {
		disturbed(step_on, on_signal, count > 3 ? atol(argument[3]) : 30);
	} else if (!strcmp(load, "places")) {
		moves = false;
		disturbed(move_and_post, on_signal_in_place, count > 3 ? atol(argument[3]) : 30);
	} else if (!strcmp(load, "order")) {
		order(n);
	} else if (!strcmp(load, "forks")) {
		forks(n);
	} else if (!strcmp(load, "vfork")) {
		vforks(n);
	} else if (!strcmp(load, "threads")) {
		many_threads(n);
	} else if (!strcmp(load, "exec")) {
		char less[24];

		post_many(100);
		printf("posted=100\n");
		snprintf(less, sizeof less, "%ld", n - 1);
		if (n > 1)
			execl("/proc/self/exe", argument[0], "exec", less, (char *)NULL);
	} else if (!strcmp(load, "crash")) {
		post_many(n);
		printf("posted=%ld\n", n);
		fflush(stdout);
		raise(SIGSEGV);
	} else if (!strcmp(load, "libraries")) {
		libraries(n, argument + 3);
	} else if (!strcmp(load, "burst") && count == 5) {
		burst_cpus = atoi(argument[3]) < CPU_SETSIZE ? atoi(argument[3]) : CPU_SETSIZE;
		burst_times = atoi(argument[4]);
		burst();
	} else if (!strcmp(load, "pause")) {
		char byte;

		post_many(n);
		printf("ready\n");
		while (read(0, &byte, 1) > 0)
			;
		post_many(n);
		usleep(200000);
		post_many(n);
		printf("posted=%ld\n", 3 * n);
	} else {
		return 2;
	}
	return 0;
}
