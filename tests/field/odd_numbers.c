// SPDX-License-Identifier: MIT
// System calls with numbers that no table has, 100 times each, and getpid 300 times.
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static long call(long number)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(0), "S"(0), "d"(0) : "rcx", "r11", "memory");
	return result;
}

int main(void)
{
	const long numbers[] = {-1, 4095, 4096, 5000, 70000, 0x40000027 /* getpid of x32 */};
	int refused = 0, done = 0;

	for (int n = 0; n < 6; n++)
		for (int i = 0; i < 100; i++)
			refused += call(numbers[n]) == -ENOSYS;
	for (int i = 0; i < 300; i++)
		done += call(SYS_getpid) > 0;
	printf("refused=%d done=%d\n", refused, done);
	return refused != 600 || done != 300;
}
