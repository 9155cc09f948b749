/* SPDX-License-Identifier: MIT */
/* A loop of 5 instructions, for counted.c and counted_activities.c. A function of its own, for probes to meet it. */
#ifndef LOOP_H
#define LOOP_H

__attribute__((noinline)) void loop(unsigned long loops)
{
	unsigned long sum = 0;

#if defined(__aarch64__)
	__asm__ volatile("1: add %1, %1, #3\n"
			 "eor %1, %1, %0\n"
			 "nop\n"
			 "subs %0, %0, #1\n"
			 "b.ne 1b\n"
			 : "+r"(loops), "+r"(sum)
			 :
			 : "cc");
#else
	__asm__ volatile("1: add $3, %1\n"
			 "xor %0, %1\n"
			 "nop\n"
			 "sub $1, %0\n"
			 "jne 1b\n"
			 : "+r"(loops), "+r"(sum)
			 :
			 : "cc");
#endif
}

#endif
