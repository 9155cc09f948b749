// SPDX-License-Identifier: MIT
// What one event costs on the running machine: measured before a recording starts and after its last count was read,
// with workloads whose events are known, alternately without and with probes. Probes are attached and detached, not
// only disabled: calling a probe is the larger part of its cost. Leaves the card detached and reset.
#pragma once

#include <map>
#include <string>

#include "recording/card/bpf_card.h"
#include "recording/rings/clock.h"

namespace monitor::card {

struct Calibration {
	// ns of CPU time added per event, by what was measured: the families `syscall` (with getppid), `sched` (with
	// two threads of one CPU that wake each other; without the probes of system calls) and `fault` (with first
	// reads of pages), `discarded`: a system call event that finds its ring full, `rejected`: a system call event
	// that the filter rejects, `reset`: --reset-on, at a function if one was requested, else at a tracepoint,
	// `function`: --functions, `sample`: the BPF card's --sample-every, with its interrupt.
	std::map<std::string, CalibratedCost> costs;
	double call_edge = 0;  // ns of one system call outside of its two tokens; 0: not measured
	double fault_edge = 0; // the same of a page fault
};

struct CalibrationOptions {
	bool tp = false;                        // how the recording attaches
	bool filtering = false;                 // -p
	bool probes = false;                    // measure functions, too; attaching these needs a privilege
	record::ClockSteering *clock = nullptr; // of the card
	bool check = false;                     // a few rounds only
};

// Takes 100 ms for each kind of work, and up to 200 ms on a machine so slow that there would be too few rounds; a check
// is over after a few grace periods of the kernel. Throws
// Error if probes cannot be attached.
Calibration calibrate(BpfCard &card, const CalibrationOptions &options);

} // namespace monitor::card
