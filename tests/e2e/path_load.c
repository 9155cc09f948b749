/* SPDX-License-Identifier: MIT */
/*
 * A pipeline of three processes, stage1 to stage3, that work this long on each item: `path_load ITEMS US US US`. The
 * work is CPU time of the stage, so it is the same beside other load. `path_load US`: a process whose first thread ends
 * at once, and whose second one works this long.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void work(int64_t us)
{
	for (int64_t end = cpu_ns() + us * 1000; cpu_ns() < end;)
		for (volatile int spin = 0; spin < 1000; spin++)
			;
}

static void *second_thread(void *us)
{
	prctl(PR_SET_NAME, "second");
	work(atoi(us));
	return NULL;
}

static void stage(int number, int items, int64_t us, int in, int out)
{
	char name[16], item = 0;

	snprintf(name, sizeof name, "stage%d", number);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < items; i++) {
		if (in >= 0 && read(in, &item, 1) != 1)
			_exit(1);
		work(us);
		if (out >= 0 && write(out, &item, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	int first[2], second[2], status, failed = 0;

	if (argc == 2) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, second_thread, argv[1]))
			return 99;
		pthread_exit(NULL);
	}
	if (argc != 5 || pipe(first) || pipe(second))
		return 99;
	for (int i = 1; i <= 3; i++)
		if (fork() == 0)
			stage(i, atoi(argv[1]), atoi(argv[i + 1]),
			      i == 1   ? -1
			      : i == 2 ? first[0]
				       : second[0],
			      i == 1   ? first[1]
			      : i == 2 ? second[1]
				       : -1);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
