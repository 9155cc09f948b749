// SPDX-License-Identifier: MIT
// Four parents fork 500 children each; every child has a name of its own, makes 3 getppid and ends. Prints how many
// there were.
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int parent(int number)
{
	int made = 0;
	for (int i = 0; i < 500; i++) {
		pid_t child = fork();
		if (!child) {
			char name[16];
			snprintf(name, sizeof name, "kid%d_%03d", number, i);
			prctl(PR_SET_NAME, name);
			for (int k = 0; k < 3; k++)
				syscall(SYS_getppid);
			_exit(0);
		}
		made += child > 0;
		if (i % 20 == 19)
			while (wait(0) > 0)
				;
	}
	return made;
}

int main(void)
{
	int made = 0, status;
	for (int i = 0; i < 4; i++)
		if (!fork())
			_exit(parent(i) != 500);
	while (wait(&status) > 0)
		made += status == 0;
	printf("made=%d\n", made * 500);
	return made != 4;
}
