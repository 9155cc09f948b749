// SPDX-License-Identifier: MIT
// As many threads at once as the argument says, each with a name of its own. Prints how many there were.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *sleep_a_little(void *number)
{
	char name[16];
	snprintf(name, sizeof name, "thr%ld", (long)number);
	prctl(PR_SET_NAME, name);
	usleep(1000 * (rand() % 300));
	return number;
}

int main(int count, char **words)
{
	long wanted = count > 1 ? atol(words[1]) : 1, made = 0;
	pthread_t *threads = calloc(wanted, sizeof *threads);
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	while (made < wanted && !pthread_create(threads + made, &attributes, sleep_a_little, (void *)made))
		made++;
	for (long i = 0; i < made; i++)
		pthread_join(threads[i], 0);
	printf("pid=%d made=%ld\n", getpid(), made);
	return 0;
}
