// SPDX-License-Identifier: MIT
// Posts events from each place that a program has: 1 before main, 2 at exit, 3 in a destructor, 4 as a thread ends, 5
// in a signal handler, 6 in children; and an activity in each of many short threads. odd_places THREADS
#include <monitor/edc.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

EDC_EVENT(mark, "arg: u16 place; u64 number");
EDC_ACTIVITY(job, "arg: u16 id");

static pthread_key_t key;

__attribute__((constructor)) static void before(void)
{
	edc_data(mark, 1, 1);
}

static void at_end(void)
{
	edc_data(mark, 2, 2);
}

__attribute__((destructor)) static void very_end(void)
{
	edc_data(mark, 3, 3);
}

static void thread_ends(void *number)
{
	edc_data(mark, 4, (unsigned long)number);
}

static void on_signal(int number)
{
	edc_data(mark, 5, number);
}

static void *thread(void *number)
{
	pthread_setspecific(key, number);
	edc_begin(job, (unsigned long)number);
	edc_end(job, (unsigned long)number);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};
	const long threads = argc > 1 ? atol(argv[1]) : 100;
	const struct timespec pause = {0, 20000000};

	pthread_key_create(&key, thread_ends);
	atexit(at_end);
	for (long i = 1; i <= threads; i++) {
		pthread_t one;

		pthread_create(&one, NULL, thread, (void *)i);
		pthread_join(one, NULL);
	}
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	for (int i = 0; i < 20; i++) {
		if (fork())
			continue;
		for (int k = 0; k < 10; k++) {
			edc_data(mark, 6, k);
			nanosleep(&pause, NULL);
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
