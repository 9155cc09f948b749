// SPDX-License-Identifier: MIT
// Posts an event from each place that a program has: before main, in it, in a thread, at the end. Then loops in `hot`,
// called by `outer`, for a profile. linkers LOOPS
#include <monitor/edc.h>

#include <pthread.h>
#include <stdlib.h>

EDC_EVENT(mark, "arg: u16 place; u64 number");
EDC_ACTIVITY(job, "arg: u16 id");

__attribute__((constructor)) static void before(void)
{
	edc_data(mark, 1, 1);
}

static void at_end(void)
{
	edc_data(mark, 3, 3);
}

static void *thread(void *unused)
{
	edc_begin(job, 1);
	edc_end(job, 1);
	return unused;
}

__attribute__((noinline)) static unsigned long hot(unsigned long x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}

__attribute__((noinline)) static unsigned long outer(unsigned long loops)
{
	unsigned long x = loops;

	for (unsigned long i = 0; i < loops; i++)
		x += hot(x ^ i);
	return x + 1;
}

int main(int argc, char **argv)
{
	pthread_t one;

	atexit(at_end);
	edc_data(mark, 2, 2);
	pthread_create(&one, NULL, thread, NULL);
	pthread_join(one, NULL);
	return outer(argc > 1 ? strtoul(argv[1], NULL, 10) : 0) == 42;
}
