// SPDX-License-Identifier: MIT
// Makes 300 calls of getppid() within main() > outer() > inner().
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) static void inner(void)
{
	for (volatile int i = 0; i < 300; i++)
		syscall(SYS_getppid);
}

__attribute__((noinline)) static void outer(void)
{
	inner();
	__asm__ volatile("");
}

int main(void)
{
	usleep(300000); /* the recorder has read this file by then */
	outer();
	return 0;
}
