// SPDX-License-Identifier: MIT
// A process for each argument, which is its name in hexadecimal digits: it computes 50 ms in spin(). Prints their ids
// and CPU times.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void spin(double seconds)
{
	struct timespec time;
	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	} while (time.tv_sec + time.tv_nsec / 1e9 < seconds);
}

int main(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		struct rusage usage;
		pid_t child = fork();
		if (!child) {
			char name[17] = "";
			for (size_t at = 0; 2 * at < strlen(words[i]); at++)
				sscanf(words[i] + 2 * at, "%2hhx", name + at);
			prctl(PR_SET_NAME, name);
			spin(0.05);
			usleep(1000);
			_exit(0);
		}
		wait4(child, 0, 0, &usage);
		printf("pid=%d cpu_us=%ld\n", child, usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	}
	return 0;
}
