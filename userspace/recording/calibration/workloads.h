// SPDX-License-Identifier: MIT
// Workloads with known events, for the calibration: each call runs one piece and returns its CPU time in ns per unit. A
// piece warms up first, because attaching a probe stops the CPU and empties its caches. On a slow machine a piece has
// fewer units, so that enough pieces fit into the calibration.
#pragma once

#include <cstddef>
#include <thread>
#include <utility>

#include <time.h>

#include "base/fd.h"

namespace monitor::card {

// The number of units of a piece: chosen once, from the CPU time of the first few.
class Units {
public:
	explicit Units(int max) : max_(max) {}
	// `work(n)` does n units.
	template <class Work> int count(const Work &work);

private:
	int max_, count_ = 0;
};

// A unit is getppid(): two events.
class Calls {
public:
	double time();
	// The same for few calls, with cold caches.
	static double time(int calls);

private:
	Units units_{500};
};

// Two threads of one CPU pass a byte back and forth. A unit is one round trip: two switches, two wakeups, four system
// calls.
class RoundTrips {
public:
	explicit RoundTrips(int cpu);
	~RoundTrips();
	double time();

private:
	void trips(int count);

	Units units_{25};
	std::pair<Fd, Fd> to_partner_, from_partner_;
	std::jthread partner_;
	clockid_t partner_clock_ = 0;
};

// A unit is the first read of an unmapped page: the kernel maps its zero page.
class Faults {
public:
	Faults();
	double time();

private:
	void touch(int from, int to);

	Units units_{128};
	std::size_t page_;
	Mapping memory_;
};

} // namespace monitor::card
