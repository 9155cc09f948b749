// SPDX-License-Identifier: MIT
// A child sleeps 0.6 s in one call and is stopped for a part of that. Another reads from an empty pipe while 50 signals
// come, each once it sleeps in the read again, whose handlers restart it. Prints their process ids and how long the
// first was stopped.
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int *handled;

static void sleep_ms(int ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0);
}

static double now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void wait_for_state(pid_t pid, char wanted)
{
	char path[64], state = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	while (state != wanted) {
		FILE *file = fopen(path, "r");
		if (fscanf(file, "%*d %*s %c", &state) != 1)
			state = 0;
		fclose(file);
		usleep(500);
	}
}

static void on_signal(int number)
{
	*handled += number != 0;
}

int main(void)
{
	int pipes[2], ready[2], status;
	char byte;
	handled = mmap(0, sizeof *handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t sleeper = fork();
	if (!sleeper) {
		prctl(PR_SET_NAME, "sleeper");
		sleep_ms(600);
		_exit(0);
	}
	sleep_ms(200);
	kill(sleeper, SIGSTOP);
	wait_for_state(sleeper, 'T');
	double stopped = now_ms();
	sleep_ms(200);
	stopped = now_ms() - stopped;
	kill(sleeper, SIGCONT);
	waitpid(sleeper, 0, 0);
	if (pipe(pipes) || pipe(ready))
		return 2;
	pid_t reader = fork();
	if (!reader) {
		struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
		prctl(PR_SET_NAME, "reader");
		sigaction(SIGUSR1, &action, 0);
		if (write(ready[1], "x", 1) != 1)
			_exit(2);
		_exit(read(pipes[0], &byte, 1) != 1);
	}
	if (read(ready[0], &byte, 1) != 1)
		return 2;
	sleep_ms(100);
	for (int i = 0; i < 50; i++) {
		wait_for_state(reader, 'S');
		kill(reader, SIGUSR1);
		while (*handled == i)
			usleep(100);
	}
	wait_for_state(reader, 'S');
	if (write(pipes[1], "x", 1) != 1)
		return 2;
	waitpid(reader, &status, 0);
	printf("sleeper=%d reader=%d stopped_ms=%.0f\n", sleeper, reader, stopped);
	return status != 0;
}
