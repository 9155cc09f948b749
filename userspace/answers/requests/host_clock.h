// SPDX-License-Identifier: MIT
// The time of an event by its host's own clock, from its time on the common clock.
// A collection converts each host's times by lines (reading/events/clock_map.h), which have errors up to their bounds,
// and are unknown where infeasible. Between two events of one host only that host's clock matters: it gives the same
// time as a report of that host alone. Invariant: equal times stay equal, and order is kept; a difference is within 2
// ns of that of the ticks.
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
	// The first tick at or after this time.
	std::uint64_t ticks(std::uint64_t time);

	const trace::Stream *stream_;
	trace::Clock clock_;
	std::uint64_t last_ = 0;
};

} // namespace monitor::requests
