// SPDX-License-Identifier: MIT
// 60 threads of a child, 30 in read and 30 in futex, are ended by exit_group; a child is killed in nanosleep, one dies
// by a fault. Prints the ids of the three.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int pipes[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *blocked(void *reads)
{
	char byte;
	if (reads)
		return read(pipes[0], &byte, 1) == 1 ? reads : 0;
	pthread_mutex_lock(&mutex);
	return 0;
}

int main(void)
{
	if (pipe(pipes))
		return 1;
	pid_t many = fork();
	if (!many) {
		pthread_t thread;
		prctl(PR_SET_NAME, "many");
		pthread_mutex_lock(&mutex);
		for (long i = 0; i < 60; i++)
			pthread_create(&thread, 0, blocked, (void *)(i & 1));
		sleep(1);
		exit(0);
	}
	waitpid(many, 0, 0);
	pid_t killed = fork();
	if (!killed) {
		prctl(PR_SET_NAME, "killed");
		sleep(100);
	}
	usleep(500000);
	kill(killed, SIGKILL);
	waitpid(killed, 0, 0);
	pid_t faulty = fork();
	if (!faulty) {
		struct rlimit none = {0, 0};
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_NAME, "faulty");
		*(volatile int *)8 = 1;
	}
	waitpid(faulty, 0, 0);
	printf("many=%d killed=%d faulty=%d\n", many, killed, faulty);
	return 0;
}
