// SPDX-License-Identifier: MIT
// What only a trial on the running machine can tell, before a recording starts: whether tracepoints are preempted here
// (then a probe is refused to every other task of its CPU, and the classes that may be preempted attach as classic
// tracepoints), and what one event costs. Called by record/recording.cpp; leaves the card detached and reset.
#pragma once

#include "bpf_card.h"

namespace monitor::card {

// ns of CPU time added per event, by family of the workload they were measured on. A family that was not measured
// has the value of the system calls; 0 where nothing could be measured.
struct EventCost {
	double syscall = 0;    // getppid: sys_enter, sys_exit
	double sched = 0;      // two threads of one CPU waking each other: sched_switch, sched_waking
	double fault = 0;      // fresh pages touched: page_fault_user, minor_fault
	double rejected = 0;   // a system call event that the filter rejects
	double reset = 0;      // --reset-on: at a function, if one was asked for, else at a tracepoint
	double call_edge = 0;  // of one system call: its time outside of its two tokens
	double fault_edge = 0; // the same of a page fault
};

struct StartTest {
	bool classic = false;      // attach type of the classes that may be preempted
	std::uint64_t calls = 0;   // system calls made by several tasks of one CPU
	std::uint64_t missing = 0; // of these, not seen by the probes under the chosen attach type
	EventCost cost;
};

// `ticks_per_ns` of the trace clock.
StartTest start_test(BpfCard &card, bool filtering, double ticks_per_ns);

} // namespace monitor::card
