// SPDX-License-Identifier: MIT
// What one event costs on the running machine: measured before a recording starts and after its last count was taken,
// by work whose events are known, without and with probes in turn. The probes are attached and detached in between:
// being called is the larger part of their cost. Called by record/recording.cpp; leaves the card detached and reset.
#pragma once

#include <map>
#include <string>

#include "bpf_card.h"
#include "rounds.h"

namespace monitor::card {

struct Calibration {
	// ns of CPU time added per event, by what was measured: the families `syscall` (by getppid), `sched` (by two
	// threads of one CPU that wake each other; only its own probes are attached) and `fault` (by first reads of
	// pages), `rejected`: a system call event that the filter rejects, `reset`: --reset-on, at a function if one
	// was asked for, else at a tracepoint.
	std::map<std::string, Estimate> costs;
	double call_edge = 0;  // ns of one system call outside of its two tokens; 0: not measured
	double fault_edge = 0; // the same of a page fault
};

struct CalibrationOptions {
	bool classic = false;   // how the recording attaches
	bool filtering = false; // -p
	bool resets = false;    // measure them too
	double ticks_per_ns = 1;
};

// Takes 300 ms at the most: what there is no time for has fewer rounds. Throws Error where probes cannot be attached.
Calibration calibrate(BpfCard &card, const CalibrationOptions &options);

} // namespace monitor::card
