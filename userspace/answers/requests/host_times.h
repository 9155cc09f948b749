// SPDX-License-Identifier: MIT
// The time that a request spent within each host, and between each two.
// Within a host are the steps between two of its events: exact. Between two hosts are the steps from one to the other
// and back: network and queueing. For a round trip the sum does not depend on the clocks' offset: it is the time that
// one host waited, by its clock, minus the time that the request was at the other, by its own. The error is the
// possible difference of rates (each by 0.1 % from the reference's at most, see Documentation/clock.md), or the bounds
// of the steps, whichever is smaller.
#pragma once

#include <cstdint>
#include <vector>

#include "path.h"

namespace monitor::requests {

struct HostTime {
	std::uint32_t host = 0, other = 0; // machines; the same: within it
	Elapsed time;
	bool is_order_known = true; // true if known for all its steps
};

// Sorted by host and other; host is at most other.
std::vector<HostTime> host_times(const Path &path, const PathMaker &maker);

} // namespace monitor::requests
