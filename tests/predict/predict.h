// SPDX-License-Identifier: MIT
// What the programs of this folder have in common: work that takes time, and the time that it took. Each of them is
// what a model is learnt from (`monitor model`), and what a prediction is compared with: the change is an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

// Computes for about this many microseconds, on any machine a constant number of steps.
inline void work(double microseconds)
{
	std::uint64_t value = 88172645463325252u;
	for (double steps = microseconds * 400; steps > 0; --steps) {
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
	}
	[[maybe_unused]] static volatile std::uint64_t sink;
	sink = value;
}

// From 0 to 1, always the same for a number.
inline double fraction(std::uint64_t number)
{
	number = (number + 1) * 0x9e3779b97f4a7c15u;
	return static_cast<double>((number ^ number >> 29) % 1000) / 1000;
}

inline void name_thread(const char *name)
{
	pthread_setname_np(pthread_self(), name);
}

// Prints the time from its construction to its destruction.
class Elapsed {
public:
	~Elapsed()
	{
		const auto now = std::chrono::steady_clock::now();
		std::printf("elapsed %.6f\n", std::chrono::duration<double>(now - begin_).count());
	}

private:
	std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The argument at this place, or the default.
inline double argument(int count, char **values, int place, double otherwise)
{
	return place < count ? std::atof(values[place]) : otherwise;
}
