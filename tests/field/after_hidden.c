// SPDX-License-Identifier: MIT
// On every CPU a process that reads one byte at a time, and sleeps after each thousand: ROUNDS thousands.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, file = open("/dev/zero", O_RDONLY), bad = 0, status;
	char byte;

	for (long cpu = sysconf(_SC_NPROCESSORS_ONLN); cpu > 0; cpu--) {
		if (fork())
			continue;
		for (int round = 0; round < rounds; round++) {
			for (int i = 0; i < 1000; i++)
				bad += pread(file, &byte, 1, 0) != 1;
			usleep(1000);
		}
		_exit(bad != 0);
	}
	while (wait(&status) > 0)
		bad += status != 0;
	printf("%d\n", bad);
	return bad != 0;
}
