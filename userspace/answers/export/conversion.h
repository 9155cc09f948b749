// SPDX-License-Identifier: MIT
// What became of a trace's events in another format.
#pragma once

#include <cstdint>

#include "kernel_feed.h"
#include "reading/events/gap.h"

namespace monitor::exporting {

struct Converted {
	std::uint64_t events = 0;  // written, without the list of threads
	std::uint64_t outside = 0; // not selected, or while not all probes were attached
	std::uint64_t size_bytes = 0;
	LeftOut left_out; // what the format cannot express
	trace::Losses losses;
};

} // namespace monitor::exporting
