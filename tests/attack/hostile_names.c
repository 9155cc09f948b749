// SPDX-License-Identifier: MIT
// Processes, threads and posted texts with the names given in hexadecimal digits, and a little work of each.
#include <monitor/edc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

EDC_EVENT(said, "arg: u16 number; str24 text");
EDC_ACTIVITY(doing, "arg: u16 number");

static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 10; i++) {
		edc_begin(doing, i);
		for (volatile int k = 0; k < 100000; k++)
			;
		edc_data(said, i, EDC_TEXT24((const char *)name));
		edc_end(doing, i);
		usleep(300);
	}
	return name;
}

int main(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		char name[17] = "";
		pthread_t thread;
		for (size_t at = 0; 2 * at < strlen(words[i]); at++)
			sscanf(words[i] + 2 * at, "%2hhx", name + at);
		if (!fork()) {
			prctl(PR_SET_NAME, name);
			pthread_create(&thread, 0, work, name);
			work(name);
			pthread_join(thread, 0);
			_exit(0);
		}
		wait(0);
	}
	return 0;
}
