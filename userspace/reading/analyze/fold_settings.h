// SPDX-License-Identifier: MIT
// Settings that a fold (thread_fold.h) has from the first event on: its scope, and what the absence of tokens means in
// this recording. Shared by the fold's parts and its copies.
#pragma once

#include <cstdint>

#include "event_kinds.h"
#include "fold_input.h"
#include "recording_info.h"
#include "scope.h"

namespace monitor::analyze {

struct FoldSettings {
	Scope scope;
	std::int64_t command_pid = 0;
	bool is_snapshot = false; // of a flight recorder
	bool is_filtering = false;
	bool is_complete = false;
	bool has_coinciding_gaps = false; // a gap concerns all CPUs, until one of them has a token
	bool has_wakings = false;
	bool has_interrupts = true;
	bool has_cpu_timers = true;    // else only if EventKinds::has_cpu_timers(), which the events may say
	bool brackets_calls = true;    // system calls are in the trace
	bool brackets_user = true;     // and faults are too
	bool brackets_all = true;      // and all interrupts: without a token nothing entered the kernel
	bool finds_runners = false;    // calls and faults name the running thread where the switch was not seen
	bool has_exec_events = false;  // an exec that changes a thread's number has a token
	bool has_untimed = false;      // perf's: events at time 0 list the state at the start
	bool throttles_groups = false; // the queued threads of a throttled group have no switches: throttles.h
	// Kernel time of a system call and of a fault outside their tokens, by calibration.
	std::uint64_t call_edge = 0, fault_edge = 0;
	std::uint64_t max_exec = 0; // ticks from the exchange of numbers to the exec's token
};

FoldSettings settings_of(const FoldInput &input, const RecordingInfo &info, const EventKinds &kinds, Scope scope);

} // namespace monitor::analyze
