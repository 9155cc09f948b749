// SPDX-License-Identifier: MIT
// Functions that are inlined into each other, on lines that the test finds by the words behind them. For argv[1]
// seconds.
#include <chrono>
#include <cstdlib>

extern "C" {

static volatile unsigned long sink;

[[gnu::always_inline]] static inline void innermost(unsigned long seed)
{
	for (int i = 0; i < 1000; ++i)
		sink = sink * 31 + seed; // line of innermost
}

[[gnu::always_inline]] static inline void middle(unsigned long seed)
{
	sink = seed;
	innermost(seed); // line of middle
}

[[gnu::noipa]] static void outer(unsigned long seed)
{
	middle(seed); // line of outer
	sink = 0;
}

} // extern "C"

int main(int argc, char **argv)
{
	const auto end =
	    std::chrono::steady_clock::now() + std::chrono::duration<double>(argc > 1 ? std::atof(argv[1]) : 1);
	while (std::chrono::steady_clock::now() < end)
		outer(7); // line of main
}
