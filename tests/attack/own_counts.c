// SPDX-License-Identifier: MIT
// 3,001 writes, 1,000 calls of fsync that fail, 300 sleeps and 2,000 page faults. Prints what the kernel accounts to
// this process.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 40, SIZE = 4096 };

int main(void)
{
	struct rusage usage;
	struct timespec cpu, time = {0, 300000};
	int null = open("/dev/null", O_WRONLY);
	prctl(PR_SET_NAME, "own_counts");
	for (int i = 0; i < 3001; i++) {
		if (write(null, "x", 1) != 1)
			return 1;
		for (volatile int k = 0; k < 30000; k++)
			;
		if (i % 10 == 1)
			nanosleep(&time, 0);
	}
	for (int i = 0; i < 1000; i++)
		syscall(SYS_fsync, -1);
	for (int i = 0; i < 50; i++) {
		char *area = mmap(0, PAGES * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(area, PAGES * SIZE, MADV_NOHUGEPAGE);
		for (int page = 0; page < PAGES; page++)
			area[page * SIZE] = 1;
		munmap(area, PAGES * SIZE);
	}
	getrusage(RUSAGE_SELF, &usage);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	fprintf(stderr, "cpu_ns=%ld voluntary=%ld involuntary=%ld minor=%ld\n", cpu.tv_sec * 1000000000 + cpu.tv_nsec,
		usage.ru_nvcsw, usage.ru_nivcsw, usage.ru_minflt);
	return 0;
}
