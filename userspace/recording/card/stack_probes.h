// SPDX-License-Identifier: MIT
// The part of the BPF card that takes stacks (bpf/stack.bpf.h): which events have stacks, the timer of each CPU, and
// the unwind tables for user stacks, which userspace/recording/stacks/ fills.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cpu_events.h"
#include "monitor/card.h"
#include "monitor/stack.h"

struct card;

namespace monitor::card {

struct StackOptions {
	unsigned timer_hz = 0;           // samples of each CPU; 0: none
	std::vector<std::string> events; // classes (names in card.h) at which a stack is taken
	std::vector<unsigned> calls;     // of sys_enter only these; empty: all
	bool at_triggers = false;        // at triggers with the action `stack`
	// Without --stacks: at the timer, of the command's processes and their user code only.
	bool of_command = false;
	bool any() const { return timer_hz || !events.empty(); }
};

// Maps read by the probes, written by one thread.
struct StackMemory {
	std::span<edc_unwind_row> rows;
	std::span<edc_unwind_mapping> mappings;
	std::span<edc_unwind_space> spaces;
	std::span<const edc_stack_cpu> cpus;
	const edc_unwind_wanted *wanted = nullptr; // null: not of_command
	int processes = -1;                        // the BPF map from process to space

	// Negative: removes it.
	void set_space(std::int32_t process, std::int64_t space) const;
	std::uint64_t spent_ns() const;    // by all stacks so far
	std::uint64_t timer_taken() const; // samples so far
};

class StackProbes {
public:
	StackProbes(::card *skeleton, const StackOptions &options, unsigned cpus);

	// Between opening and loading, when it is known whether page_fault_kernel is loaded.
	void configure();
	// After loading.
	void map();
	// Opens the timers at the first call. Throws Error.
	void attach_timers(bpf_program *program);
	void detach_timers() { timers_.detach(); }
	// Clears the set of described stacks, with the rings.
	void reset();
	void stop_timers() const { timers_.disable(); }
	// With StackOptions::of_command, called ten times a second: stops the timers of CPUs on which the command has
	// not run for a second, and restarts them when it has.
	void follow_command();
	// The cost of a timer interrupt; 0: unknown. Call after detach_timers(); takes some ms.
	double time_interrupt();
	CpuEvents &timers() { return timers_; }

	StackMemory memory() const;
	// Page faults of stack walks, for which the kernel did not run the fault probe (bpf/fault.bpf.c).
	std::uint64_t own_faults() const;

private:
	::card *skeleton_;
	StackOptions options_;
	unsigned cpus_;
	std::uint32_t number_of_rows_;
	Mapping rows_, mappings_, spaces_, wanted_, cpu_counts_, known_;
	std::vector<std::chrono::steady_clock::time_point> ran_; // when the command last ran, by CPU
	CpuEvents timers_;
};

// Why the kernel refuses such a timer or its program; "": it does not.
std::string why_no_stack_timer(unsigned hz);

} // namespace monitor::card
