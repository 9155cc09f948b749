// SPDX-License-Identifier: MIT
// Work whose events are known, for the calibration: each call does one piece of it and returns its CPU time in ns per
// unit. Some of it is done first, untimed, because attaching a probe stops the CPU and empties its caches.
#pragma once

#include <cstddef>
#include <optional>
#include <thread>

#include <time.h>

#include "base/fd.h"

namespace monitor::card {

// A unit is getppid(): two events.
double time_calls();

// Two threads of one CPU pass a byte back and forth. A unit is one round trip: two switches, two wakeups, four system
// calls.
class RoundTrips {
public:
	explicit RoundTrips(int cpu);
	~RoundTrips();
	double time();

private:
	bool trips(int count);
	double cpu_ns() const;

	Fd there_[2], back_[2];
	std::jthread partner_;
	clockid_t partner_clock_ = 0;
};

// A unit is the first read of a page that has no memory yet: the kernel maps its page of zeros.
class Faults {
public:
	Faults();
	double time();

private:
	std::size_t page_;
	Mapping memory_;
};

} // namespace monitor::card
