// SPDX-License-Identifier: MIT
// How long the recorder's passes and writes took, as its own tokens say (drain_pass, block_write).
#pragma once

#include <cstdint>

#include "arrivals.h"

namespace monitor::plan {

struct ServiceTimes {
	double empty_pass = 0, pass = 0;         // ns of a pass without blocks, of one with blocks, beside these
	double kernel_block = 0, user_block = 0; // ns of a block that is copied
	double fresh_block = 0;                  // more, if its place in the pool was never used before
	double write = 0, written_block = 0;     // CPU ns of a write, and of each of its blocks
	double waiting = 0, waiting_block = 0;   // ns that the writer waits then for the disk
	Nanoseconds other_cpu = 0;               // CPU time of the recorder's other threads
};

// Throws Unanswerable: the recording has no such tokens.
ServiceTimes read_service_times(trace::Trace &trace, const analyze::RecordingInfo &info, const Arrivals &arrivals);

} // namespace monitor::plan
