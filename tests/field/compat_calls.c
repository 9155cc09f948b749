// SPDX-License-Identifier: MIT
// 32-bit calls of a 64-bit program: 1000 getpid (20 there, writev here), 700 gettid (224 there); 300 native getppid.
// Then a 32-bit nanosleep (162 there, sync here).
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long call32(long number, long first)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(0), "d"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

int main(void)
{
	int32_t *pause = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int done = 0;

	if (pause == MAP_FAILED)
		return 2;
	for (int i = 0; i < 1000; i++)
		done += call32(20, 0) > 0;
	for (int i = 0; i < 700; i++)
		done += call32(224, 0) > 0;
	for (int i = 0; i < 300; i++)
		done += syscall(SYS_getppid) >= 0;
	pause[1] = 20 * 1000 * 1000;
	done += call32(162, (long)pause) == 0;
	printf("%d\n", done);
	return done != 2001;
}
