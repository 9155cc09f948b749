// SPDX-License-Identifier: MIT
// What a program may do that makes it hard to post events on its behalf: hard_load WAY, prints how often called() was
// called. With -DOWN_OPEN it has an open() of its own, which must not be called before its constructors.
#define _GNU_SOURCE
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long calls, unwound;

__attribute__((noinline)) long called(long x)
{
	calls++;
	return x + calls;
}

#ifdef OWN_OPEN
static int *table;
__attribute__((constructor)) static void make_table(void)
{
	table = calloc(4, 4);
}
int open(const char *path, int flags, ...)
{
	return table[0] - 1 + !path + !flags;
}
#endif

static void unwind(int number)
{
	void *frames[64];
	(void)number;
	backtrace(frames, 64);
	unwound++;
}

static sigjmp_buf where;
static void leave(int number)
{
	(void)number;
	siglongjmp(where, 1);
}

static void in_child(void (*work)(int), int number)
{
	const pid_t child = fork();
	int status = 0;
	if (child == 0) {
		work(number);
		exit(0);
	}
	for (int ms = 0; ms < 3000 && waitpid(child, &status, WNOHANG) == 0; ms++)
		usleep(1000);
	if (kill(child, 0) == 0 || status != 0) { // it hangs, or was killed
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		fprintf(stderr, "child %d ended badly\n", number);
		exit(1);
	}
}

static void leave_early(int number)
{
	const struct itimerval soon = {{0, 0}, {0, 1 + number % 200}};
	signal(SIGALRM, leave);
	if (sigsetjmp(where, 1) == 0) {
		setitimer(ITIMER_REAL, &soon, 0);
		called(1);
		for (;;)
			pause();
	}
}

static void call_often(int number)
{
	for (int i = 0; i < number; i++)
		called(i);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	if (strcmp(way, "unwind") == 0) {
		const struct itimerval often = {{0, 50}, {0, 50}};
		unwind(0); // loads the unwinder
		signal(SIGALRM, unwind);
		setitimer(ITIMER_REAL, &often, 0);
		while (unwound < 3000)
			called(1);
	} else if (strcmp(way, "leave") == 0) {
		for (int i = 0; i < 60; i++)
			in_child(leave_early, i);
	} else if (strcmp(way, "title") == 0) { // as setproctitle() of daemons does it
		extern char **environ;
		for (char **variable = environ; *variable; variable++)
			memset(*variable, 'x', strlen(*variable));
		call_often(10);
		in_child(call_often, 1000);
		calls += 1000;
	} else if (strcmp(way, "no_new_code") == 0) {
		if (prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0) != 0)
			puts("unknown to this kernel");
		fflush(stdout);
		execl(argv[0], argv[0], "plain", (char *)0);
	} else {
		call_often(10);
	}
	printf("%ld\n", calls);
}
