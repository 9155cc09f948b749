// SPDX-License-Identifier: MIT
// Functions that have constants between their instructions, which look like returns: each is called CALLS times, and
// what they computed is printed.
#include <stdio.h>
#include <stdlib.h>

#define CALLS 300
#define NAKED __attribute__((naked, noinline))

// Behind the last instruction.
NAKED unsigned long after_return(long i)
{
	__asm__("lea 1f(%rip), %rax\n\t"
		"mov (%rax,%rdi,8), %rax\n\t"
		"ret\n"
		"1:\t.quad 0xc3c3c3c3c3c3c3c3, 0x0123c30045c367c3, 3");
}

// Behind a call that does not return.
NAKED unsigned long after_call(long i)
{
	__asm__("test %rdi, %rdi\n\t"
		"js 2f\n\t"
		"mov 1f(%rip), %rax\n\t"
		"add %rdi, %rax\n\t"
		"ret\n"
		"2:\tcall abort@PLT\n"
		"1:\t.quad 0xc3c3c3c3c3c3c3c3");
}

// A table of jumps among the instructions, with distances of 0xc3 and more.
NAKED unsigned long in_table(long i)
{
	__asm__("cmp $2, %edi\n\t"
		"ja 3f\n\t"
		"lea 1f(%rip), %rdx\n\t"
		"mov %edi, %edi\n\t"
		"movslq (%rdx,%rdi,4), %rax\n\t"
		"add %rdx, %rax\n\t"
		"jmp *%rax\n"
		"1:\t.long 2f - 1b, 3f - 1b, 4f - 1b\n\t"
		".skip 0xc3 - (. - 1b), 0x90\n"
		"2:\tmov $11, %eax\n\t"
		"ret\n"
		"3:\tmov $22, %eax\n\t"
		"ret\n\t"
		".skip 0x1c3 - (. - 1b), 0x90\n"
		"4:\tmov $33, %eax\n\t"
		"ret");
}

// What looks like the space that a compiler leaves for calls, and a return: a constant that a list of such places
// names.
NAKED unsigned long in_list(long i)
{
	__asm__("9:\tnopl 0(%rax,%rax,1)\n\t"
		"mov 1f(%rip), %rax\n\t"
		"add %rdi, %rax\n"
		"8:\t.byte 0x0f, 0x1f, 0x44, 0, 0\n\t"
		"ret\n"
		"1:\t.byte 0x0f, 0x1f, 0x44, 0, 0, 0xc3, 0, 0\n\t"
		".pushsection __mcount_loc, \"aw\", @progbits\n\t"
		".quad 9b\n\t"
		".popsection\n\t"
		".pushsection __return_loc, \"aw\", @progbits\n\t"
		".quad 8b, 1b\n\t"
		".popsection");
}

// Each case leaves by a return of its own.
__attribute__((noinline)) long by_switch(long i, long *sum)
{
	switch (i) {
	case 0:
		*sum += 5;
		return 1;
	case 1:
		*sum *= 3;
		return 7;
	case 2:
		*sum -= 9;
		return *sum;
	case 3:
		*sum ^= 77;
		return 4;
	case 4:
		*sum += *sum >> 3;
		return 2;
	case 5:
		return *sum;
	default:
		*sum += i;
		return i;
	}
}

int main(void)
{
	unsigned long sums[5] = {0};
	long sum = 0;

	for (long i = 0; i < CALLS; i++) {
		sums[0] += after_return(i % 3);
		sums[1] += after_call(i);
		sums[2] += in_table(i % 4);
		sums[3] += in_list(i);
		sums[4] += (unsigned long)by_switch(i % 8, &sum);
	}
	printf("%lx %lx %lx %lx %lx %lx\n", sums[0], sums[1], sums[2], sums[3], sums[4], (unsigned long)sum);
	return 0;
}
