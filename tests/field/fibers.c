// SPDX-License-Identifier: MIT
// Eight fibers on one thread, in turn: each calls `part` 20 times, which gives way to the next fiber twice. Prints the
// time of the longest call and of all together, in nanoseconds.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "spin.h"

enum { fibers = 8, calls = 20, stack_bytes = 65536 };

static ucontext_t scheduler, fiber[fibers];
static int running, done;
static long longest, all;

static void give_way(void)
{
	swapcontext(&fiber[running], &scheduler);
}

__attribute__((noinline)) void part(void)
{
	spin_us(100);
	give_way();
	spin_us(100);
	give_way();
	spin_us(100);
}

static void life(void)
{
	for (int i = 0; i < calls; i++) {
		const long begin = now();

		part();
		const long took = now() - begin;

		all += took;
		longest = took > longest ? took : longest;
	}
	done++;
}

int main(void)
{
	for (int i = 0; i < fibers; i++) {
		getcontext(&fiber[i]);
		fiber[i].uc_stack.ss_sp = malloc(stack_bytes);
		fiber[i].uc_stack.ss_size = stack_bytes;
		fiber[i].uc_link = &scheduler;
		makecontext(&fiber[i], life, 0);
	}
	for (int ended[fibers] = {0}; done < fibers;)
		for (running = 0; running < fibers; running++) {
			const int before = done;

			if (!ended[running])
				swapcontext(&scheduler, &fiber[running]);
			ended[running] |= done != before;
		}
	printf("longest_ns=%ld\nall_ns=%ld\n", longest, all);
	return 0;
}
