// SPDX-License-Identifier: MIT
// What record --stacks took (`stacks`).
#pragma once

#include "fields.h"

namespace monitor::recording_file {

struct StacksAt {
	std::uint64_t taken = 0, left_out = 0; // by the budget

	void fields(auto &v) { v("taken", taken, "left_out_by_budget", left_out); }
};

// What a user's programs mapped that found no room in that user's share.
struct WithoutRoom {
	std::uint32_t user = 0;
	std::uint64_t mappings = 0, tables = 0; // lists of mappings of processes, tables of files

	void fields(auto &v) { v("user", user, "mappings", mappings, "tables", tables); }
};

// What the probes walk stacks with.
struct UnwindCounts {
	std::uint64_t files = 0, unread_files = 0, rows = 0, tables_without_room = 0, table_ns = 0;
	std::uint64_t processes = 0, spaces_without_room = 0, lost_changes = 0;
	std::uint64_t lists_read_again = 0, paused_ns = 0;
	bool opener_lost = false; // from some moment on no file of code could be opened
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
	bool of_command = false; // nobody asked for them: only of its processes, and without what the kernel did
	std::vector<std::string> events;
	std::vector<unsigned> calls; // system calls, if not all
	unsigned budget_percent = 0;
	std::uint64_t taken_at_events = 0, left_out = 0; // by the budget
	std::map<std::string, StacksAt> at;              // by the kind of event: switch, waking, fault, other
	std::uint64_t spent_at_events_ns = 0, max_spent_of_a_cpu_ns = 0;
	std::uint64_t taken_at_timer = 0, spent_at_timer_ns = 0;
	std::uint64_t timer_interrupts = 0; // on all CPUs, whatever they met
	double timer_interrupt_ns = 0;      // what one takes, without a stack; 0: not measured
	UnwindCounts unwinding;

	// What taking stacks took in the probes, measured each time.
	std::uint64_t spent_ns() const { return spent_at_events_ns + spent_at_timer_ns; }
	// And the interrupts for them.
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
