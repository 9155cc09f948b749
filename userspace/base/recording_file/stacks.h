// SPDX-License-Identifier: MIT
// Counts and costs of record --stacks (`stacks`).
#pragma once

#include "fields.h"

namespace monitor::recording_file {

struct StacksAt {
	std::uint64_t taken = 0, left_out = 0; // by the budget

	void fields(auto &v) { v("taken", taken, "left_out_by_budget", left_out); }
};

// Mappings of a user's programs that exceeded that user's share.
struct WithoutRoom {
	std::uint32_t user = 0;
	std::uint64_t mappings = 0, tables = 0; // lists of mappings of processes, tables of files

	void fields(auto &v) { v("user", user, "mappings", mappings, "tables", tables); }
};

// The unwind tables of the probes.
struct UnwindCounts {
	std::uint64_t files = 0, unread_files = 0, rows = 0, tables_without_room = 0, table_ns = 0;
	std::uint64_t processes = 0, spaces_without_room = 0, lost_changes = 0;
	std::uint64_t lists_read_again = 0, paused_ns = 0;
	bool opener_lost = false; // the process that opens code files was lost during the recording
	std::vector<WithoutRoom> without_room;

	void fields(auto &v)
	{
		v("files", files, "unread_files", unread_files, "unwind_rows", rows, "tables_without_room",
		  tables_without_room, "tables_ns", table_ns, "processes", processes, "processes_without_room",
		  spaces_without_room, "lost_mappings", lost_changes, "lists_read_again", lists_read_again, "paused_ns",
		  paused_ns, "opener_lost", opener_lost);
		v.if_set("without_room", without_room);
	}
};

struct StackCounts {
	unsigned timer_hz = 0;   // samples of each CPU; 0: none
	bool of_command = false; // without --stacks: of the command's processes and their user code only
	std::vector<std::string> events;
	std::vector<unsigned> calls; // system calls, if not all
	unsigned budget_percent = 0;
	std::uint64_t taken_at_events = 0, left_out = 0; // by the budget
	std::map<std::string, StacksAt> at;              // by the kind of event: switch, waking, fault, other
	std::uint64_t spent_at_events_ns = 0, max_spent_of_a_cpu_ns = 0;
	std::uint64_t taken_at_timer = 0, spent_at_timer_ns = 0;
	std::uint64_t timer_interrupts = 0; // on all CPUs, whether or not a stack was taken
	double timer_interrupt_ns = 0;      // cost of an interrupt without a stack; 0: not measured
	UnwindCounts unwinding;

	// Measured time of stack walks in the probes.
	std::uint64_t spent_ns() const { return spent_at_events_ns + spent_at_timer_ns; }
	// Estimated time of the timer interrupts.
	double interrupts_ns() const { return static_cast<double>(timer_interrupts) * timer_interrupt_ns; }

	void fields(auto &v)
	{
		v("timer_hz", timer_hz, "events", events, "system_calls", calls, "budget_percent", budget_percent,
		  "taken_at_events", taken_at_events, "left_out_by_budget", left_out, "at", at, "spent_at_events_ns",
		  spent_at_events_ns, "max_spent_of_a_cpu_ns", max_spent_of_a_cpu_ns, "taken_at_timer", taken_at_timer,
		  "spent_at_timer_ns", spent_at_timer_ns);
		v.if_set("timer_interrupts", timer_interrupts, "timer_interrupt_ns", timer_interrupt_ns, "of_command",
			 of_command);
		unwinding.fields(v);
	}
};

} // namespace monitor::recording_file
