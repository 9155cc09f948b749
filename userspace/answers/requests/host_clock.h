// SPDX-License-Identifier: MIT
// The time of an event by its host's own clock, from its time on the trace's common clock.
//
// A collection converts the times of each host by lines (reading/events/clock_map.h), which are off by their bounds,
// and unknown where they are infeasible. Between two events of one host only that host's own clock counts: it gives the
// time that a report of that host alone gives. Invariant: equal times are equal, and order is kept; a difference is
// within 2 ns of that of the ticks.
#pragma once

#include <cstdint>

#include "reading/events/stream.h"

namespace monitor::requests {

class HostClock {
public:
	explicit HostClock(const trace::Stream &stream);

	// Since the clock's zero. Fast if times mostly increase.
	std::uint64_t ns(std::uint64_t time);

private:
	// The first tick whose time is at or after this one.
	std::uint64_t ticks(std::uint64_t time);

	const trace::Stream *stream_;
	trace::Clock clock_;
	std::uint64_t last_ = 0;
};

} // namespace monitor::requests
