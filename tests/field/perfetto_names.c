// SPDX-License-Identifier: MIT
// With an argument a service: it takes another name when there is a file `go`, computes for 100 ms, and stays if the
// argument begins with s. Without one it computes, makes that file, and has a thread with a name of its own.
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void burn(int ms)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static void *thread(void *argument)
{
	prctl(PR_SET_NAME, "worker");
	burn(50);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t worker;

	if (argc > 1) {
		prctl(PR_SET_NAME, "idle-service");
		while (access("go", F_OK))
			usleep(10000);
		prctl(PR_SET_NAME, "busy-service");
		burn(100);
		if (argv[1][0] == 's')
			sleep(3);
		return 0;
	}
	burn(100);
	close(creat("go", 0600));
	pthread_create(&worker, 0, thread, 0);
	pthread_join(worker, 0);
	usleep(1500000);
	return 0;
}
