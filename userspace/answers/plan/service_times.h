// SPDX-License-Identifier: MIT
// How long the recorder's passes and writes take, fitted to its own events drain_pass and block_write.
#pragma once

#include "arrivals.h"

namespace monitor::plan {

struct ServiceTimes {
	double empty_pass = 0, pass = 0;         // ns of a pass without blocks; of one with blocks, without these
	double kernel_block = 0, user_block = 0; // ns to copy a block
	double fresh_block = 0;                  // ns more, if its place in the pool was never used before
	double write = 0, written_block = 0;     // CPU ns of a write, and of each of its blocks
	double waiting = 0, waiting_block = 0;   // ns that the writer then waits for the disk
	Nanoseconds other_cpu = 0;               // CPU time of the recorder's other threads
	// CPU ns that a probe takes less for each word that its full ring discards; not for rings of programs.
	double saved_by_lost_word = 0;
};

// A probe that finds its ring full does all but store the token (bpf/ring.bpf.h). The recording's calibration gives the
// difference for system calls, and it is taken for all events; 0: not calibrated.
double saved_by_lost_word(const analyze::RecordingInfo &info, const Arrivals &arrivals);

// Throws Unanswerable: the recording has no such events.
ServiceTimes read_service_times(trace::Trace &trace, const analyze::RecordingInfo &info, const Arrivals &arrivals);

} // namespace monitor::plan
