// SPDX-License-Identifier: MIT
// work() is called 700 times, by main() and by a thread; each seventh call is left by an exception, the last one of
// both, too.
#include <cstdio>
#include <stdexcept>
#include <thread>

extern "C" __attribute__((noinline)) int work(int number)
{
	if (number % 7 == 6)
		throw std::runtime_error("seventh");
	asm volatile("");
	return number + 1;
}

static void call(int times)
{
	for (int i = 0; i < times; ++i)
		try {
			work(i);
		} catch (const std::exception &) {
		}
}

int main()
{
	std::thread(call, 350).join();
	call(350);
	std::puts("calls=700 left=100");
}
