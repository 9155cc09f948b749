// SPDX-License-Identifier: MIT
// Touches memory that is not there for a second: most of its time is the kernel's, in page faults. Prints that share.
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(void)
{
	const size_t length = 16 << 20;
	char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec begin, now;
	struct rusage used;

	madvise(memory, length, MADV_NOHUGEPAGE);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (size_t i = 0; i < length; i += 4096)
			memory[i] = 1;
		madvise(memory, length, MADV_DONTNEED);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < 2);
	getrusage(RUSAGE_SELF, &used);
	printf("kernel_percent=%d\n",
	       (int)(100 * seconds(used.ru_stime) / (seconds(used.ru_stime) + seconds(used.ru_utime))));
	return 0;
}
