// SPDX-License-Identifier: MIT
// A server whose child, a daemon, closes what it inherited, before or after its first event, and opens a file or a pair
// of sockets of its own, which have the numbers that were closed. Prints what became of them. Posts 102 events.
// daemon_descriptors late|file|pair FILE
#define _GNU_SOURCE
#include <monitor/edc.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

EDC_EVENT(step, "arg: u16 number");

static void work(const char *how, const char *file)
{
	char answer[16] = "";
	int own[2] = {-1, -1};
	long length;

	if (strcmp(how, "late") != 0)
		edc(step, 1);
	syscall(SYS_close_range, 3, ~0u, 0);
	if (strcmp(how, "late") == 0)
		edc(step, 1);
	if (strcmp(how, "pair") == 0) {
		socketpair(AF_UNIX, SOCK_SEQPACKET, 0, own);
		length = write(own[1], "question", 8);
	} else {
		own[0] = open(file, O_CREAT | O_TRUNC | O_RDWR, 0644);
	}
	for (int i = 2; i < 102; i++) {
		edc(step, i);
		usleep(1000);
	}
	if (strcmp(how, "pair") == 0)
		length = recv(own[0], answer, sizeof answer, MSG_DONTWAIT);
	else
		length = write(own[0], "answer", 6);
	printf("%ld %.16s\n", length, answer);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	edc(step, 0);
	if (fork() == 0)
		work(argv[1], argv[2]);
	wait(NULL);
	return 0;
}
