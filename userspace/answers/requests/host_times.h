// SPDX-License-Identifier: MIT
// What a request spent within each host, and between each two.
//
// Within a host are the steps between two of its events: exact. Between two hosts are the steps from one to the other,
// there and back: network and queueing. Of each way there with a way back, the sum does not depend on how the clocks
// differ: it is the time that the one host waited, by its clock, less the time that the other had it, by its own. That
// is off by what the rates may differ (each by 0.1 % from the reference's at most, see Documentation/clock.md), or by
// the bounds of the steps, whichever is less.
#pragma once

#include <cstdint>
#include <vector>

#include "path.h"

namespace monitor::requests {

struct HostTime {
	std::uint32_t host = 0, other = 0; // machines; the same: within it
	Elapsed time;
	bool is_order_known = true; // of all its steps
};

// Ordered by host and other; host is at most other.
std::vector<HostTime> host_times(const Path &path, const PathMaker &maker);

} // namespace monitor::requests
