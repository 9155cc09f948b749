// SPDX-License-Identifier: MIT
// A function that is called too often to be recorded, and one that is not: hot_load ROUNDS CALLS; in each round one
// call of rare() and CALLS of hot(). Compiled by functions.py and patched_functions.py.
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline))

KEPT int hot(int x)
{
	volatile int y = x;
	return y;
}

KEPT int rare(int x)
{
	volatile int y = x;
	for (int i = 0; i < 3000000; i++)
		y += i;
	return y;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 1, calls = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 0; i < rounds; i++) {
		for (int j = 0; j < calls; j++)
			hot(j);
		rare(i);
	}
	printf("%d\n", rounds);
}
