// SPDX-License-Identifier: MIT
// Calls functions of the C library, through pointers that the compiler does not know: 20000 strlen and 10000 memcpy,
// which are chosen at run time; 5000 pthread_cond_signal and 10 posix_spawn, of which there are two versions; and 300
// write by another name of __write.
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(void)
{
	static char text[200], copy[200];
	size_t (*volatile length)(const char *) = strlen;
	void *(*volatile copied)(void *, const void *, size_t) = memcpy;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	const int null = open("/dev/null", O_WRONLY);
	size_t sum = 0;

	for (int i = 0; i < 20000; i++) {
		text[i % 100] = 'a';
		sum += length(text);
	}
	for (int i = 0; i < 10000; i++)
		sum += copied(copy, text, 100 + i % 50) == copy;
	for (int i = 0; i < 5000; i++)
		pthread_cond_signal(&condition);
	for (int i = 0; i < 10; i++) {
		char *argv[] = {"true", NULL};
		pid_t child;

		if (posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ) == 0)
			waitpid(child, NULL, 0);
	}
	for (int i = 0; i < 300; i++)
		sum += (size_t)write(null, text, 1);
	printf("%zu\n", sum);
	return 0;
}
