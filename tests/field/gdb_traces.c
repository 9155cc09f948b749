// SPDX-License-Identifier: MIT
// Calls take_step() 25 times, at which gdb has a tracepoint.
#include <stdio.h>

int global_counter;

__attribute__((noinline)) int take_step(int n)
{
	global_counter += n;
	return global_counter;
}

int main(void)
{
	for (int i = 0; i < 25; i++)
		take_step(i);
	printf("%d\n", global_counter); // where gdb stops
	return 0;
}
