// SPDX-License-Identifier: MIT
// One hot loop, inlined twice over into a function of its own; with NESTED into one within main().
#include <stdlib.h>

static inline __attribute__((always_inline)) unsigned long innermost(unsigned long x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}

static inline __attribute__((always_inline)) unsigned long between(unsigned long x)
{
	return innermost(x ^ 3);
}

#ifndef NESTED
__attribute__((noinline)) unsigned long outer(unsigned long n)
{
	unsigned long x = n;
	for (unsigned long i = 0; i < n; i++)
		x += between(i);
	return x;
}
#endif

int main(int count, char **words)
{
	const unsigned long n = count > 1 ? strtoul(words[1], NULL, 10) : 100000;
#ifdef NESTED
	__attribute__((noinline)) unsigned long outer(unsigned long more)
	{
		unsigned long x = n + more;
		for (unsigned long i = 0; i < n; i++)
			x += between(i);
		return x;
	}
#endif
	return outer(n) == 42;
}
