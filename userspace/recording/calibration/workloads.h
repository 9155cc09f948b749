// SPDX-License-Identifier: MIT
// Work whose events are known, for the calibration: each call does one piece of it and returns its CPU time in ns per
// unit. Some of it is done first, untimed, because attaching a probe stops the CPU and empties its caches. On a slow
// machine a piece has fewer units, so that enough pieces fit into the time of the calibration.
#pragma once

#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

#include <time.h>

#include "base/fd.h"

namespace monitor::card {

// How many units a piece of work has: decided once, by the CPU time of the first few.
class Units {
public:
	explicit Units(int max) : max_(max) {}
	// `work` does as many units as it is told.
	template <class Work> int count(const Work &work);

private:
	int max_, count_ = 0;
};

// A unit is getppid(): two events.
class Calls {
public:
	double time();
	// Of so few that their caches are not prepared.
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
	std::pair<Fd, Fd> there_, back_;
	std::jthread partner_;
	clockid_t partner_clock_ = 0;
};

// A unit is the first read of a page that has no memory yet: the kernel maps its page of zeros.
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
