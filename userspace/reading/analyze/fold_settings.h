// SPDX-License-Identifier: MIT
// What a fold (thread_fold.h) has before the first event and never changes: its scope, and what the absence of tokens
// means in this recording. Shared by the fold's parts and its copies.
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
	bool has_coinciding_gaps = false; // a gap is of all CPUs, and over when one of them has a token
	bool has_wakings = false;
	bool has_interrupts = true;
	bool brackets_calls = true; // system calls are in the trace
	bool brackets_user = true;  // and faults are too
	bool brackets_all = true;   // and interrupts, and none was left out: without a token nobody entered the kernel
	bool finds_runners = false; // calls and faults say who runs where the switch was not seen
	bool tells_execs = false;   // who takes another number by an exec has a token
	bool has_untimed = false;   // perf's: events at time 0 list what was there at the start
	bool throttles_groups = false; // one that is throttled has no switches of its queued threads: throttles.h
	// Kernel time of a system call and of a fault outside their two tokens, by calibration.
	std::uint64_t call_edge = 0, fault_edge = 0;
	std::uint64_t max_exec = 0; // ticks from the exchange of numbers to the token of the exec
};

FoldSettings settings_of(const FoldInput &input, const RecordingInfo &info, const EventKinds &kinds, Scope scope);

} // namespace monitor::analyze
