// SPDX-License-Identifier: MIT
// The thread "toucher" touches 20 pages that a userfaultfd watches; "filler" fills each 25 ms after it was asked, in
// fill(). Prints the id and the time that the touches took.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 20, SIZE = 4096 };
static long handler;

static char *pages(int number)
{
	return mmap(0, number * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *fill(void *unused)
{
	char *page = pages(1);
	memset(page, 7, SIZE);
	prctl(PR_SET_NAME, "filler");
	for (int i = 0; i < PAGES; i++) {
		struct uffd_msg message;
		if (read(handler, &message, sizeof message) != sizeof message)
			return unused;
		usleep(25000);
		struct uffdio_copy copy = {
		    .dst = message.arg.pagefault.address & ~(SIZE - 1ul), .src = (unsigned long)page, .len = SIZE};
		ioctl(handler, UFFDIO_COPY, &copy);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	struct timespec start, end;
	int sum = 0;
	char *area = pages(PAGES);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {(unsigned long)area, PAGES * SIZE},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	handler = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (handler < 0 || ioctl(handler, UFFDIO_API, &api) || ioctl(handler, UFFDIO_REGISTER, &range))
		return 77;
	pthread_create(&thread, 0, fill, 0);
	prctl(PR_SET_NAME, "toucher");
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < PAGES; i++)
		sum += ((volatile char *)area)[i * SIZE];
	clock_gettime(CLOCK_MONOTONIC, &end);
	pthread_join(thread, 0);
	printf("pid=%d touched_ns=%.0f\n", getpid(), (end.tv_sec - start.tv_sec) * 1e9 + end.tv_nsec - start.tv_nsec);
	return sum != 7 * PAGES;
}
