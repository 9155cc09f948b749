// SPDX-License-Identifier: MIT
// The part of the BPF card that takes stacks (bpf/stack.bpf.h): which events have one, the timer of each CPU, and the
// memory in which the recorder tells the probes how to walk a program's stack. The memory is filled by
// userspace/recording/stacks/.
#pragma once

#include <array>
#include <bitset>
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
struct bpf_map;

namespace monitor::card {

struct StackOptions {
	unsigned timer_hz = 0;           // samples of each CPU; 0: none
	std::vector<std::string> events; // classes (names in card.h) at which a stack is taken
	std::vector<unsigned> calls;     // of sys_enter only these; empty: all
	bool at_triggers = false;        // and where one fires that asks for it
	// At the timer, where nobody asked for stacks: of the command's processes alone, and of their own code.
	bool of_command = false;
	bool any() const { return timer_hz || !events.empty(); }
};

// What the probes read. One thread writes it.
struct StackMemory {
	std::span<edc_unwind_row> rows;
	std::span<edc_unwind_mapping> mappings;
	std::span<edc_unwind_space> spaces;
	std::span<const edc_stack_cpu> cpus;
	const edc_unwind_wanted *wanted = nullptr; // null: not of_command
	int processes = -1;                        // the BPF map from process to space

	// Negative: it has none.
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
	// Opens the timers if this is the first time. Throws Error.
	void attach_timers(bpf_program *program);
	void detach_timers() { timers_.detach(); }
	// Forgets what was described, as the rings are cleared.
	void reset();
	void stop_timers() const { timers_.disable(); }
	// With StackOptions::of_command, ten times a second: the timers of CPUs on which the command has not run for a
	// second are off, and on again when it has run there.
	void follow_command();
	// What one interrupt by the timer takes; 0: not known. After detach_timers(), takes some ms.
	double time_interrupt();
	CpuEvents &timers() { return timers_; }

	StackMemory memory() const;
	// That the probe of faults in the kernel was not run for (bpf/fault.bpf.c).
	std::uint64_t own_faults() const;

private:
	::card *skeleton_;
	StackOptions options_;
	unsigned cpus_;
	std::uint32_t number_of_rows_;
	Mapping rows_, mappings_, spaces_, wanted_, cpu_counts_, known_;
	std::vector<std::chrono::steady_clock::time_point> ran_; // the command, by CPU
	CpuEvents timers_;
};

// Why the kernel refuses such a timer, or what walks stacks; "": it does not.
std::string why_no_stack_timer(unsigned hz);

} // namespace monitor::card
