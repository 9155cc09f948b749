// SPDX-License-Identifier: MIT
// The same program built twice: compilers give functions suffixes, hashes and numbers that differ from build to build.
// With SECOND, `slower` takes twice as long, and nothing else differs.
#ifdef SECOND
#define NAME(one, two) __asm__(two)
#define TIMES 2
#else
#define NAME(one, two) __asm__(one)
#define TIMES 1
#endif

unsigned long promoted(unsigned long n) NAME("promoted.llvm.1234567890123", "promoted.llvm.9876543210987");
unsigned long cloned(unsigned long n) NAME("cloned.constprop.0", "cloned.constprop.1.isra.0");
unsigned long local(unsigned long n) NAME("local.lto_priv.0", "local.lto_priv.7");
unsigned long rust(unsigned long n) NAME("_ZN5crate4work17h0123456789abcdefE", "_ZN5crate4work17hfedcba9876543210E");
unsigned long lambda(unsigned long n) NAME("_ZZ4mainENKUlmE_clEm", "_ZZ4mainENKUlmE0_clEm");

#define FUNCTION(name)                                                \
	__attribute__((noinline)) unsigned long name(unsigned long n) \
	{                                                             \
		unsigned long x = n;                                  \
                                                                      \
		for (unsigned long i = 0; i < n; i++)                 \
			x = x * 6364136223846793005ul + i;            \
		return x;                                             \
	}

FUNCTION(promoted)
FUNCTION(cloned)
FUNCTION(local)
FUNCTION(rust)
FUNCTION(lambda)
FUNCTION(slower)

int main(void)
{
	const unsigned long n = 100000000;

	return (promoted(n) + cloned(n) + local(n) + rust(n) + lambda(n) + slower(TIMES * n)) == 42;
}
