// SPDX-License-Identifier: MIT
// The kernel's own figures for the machine, as oracles for the tokens: /proc/stat (context switches, interrupts,
// softirqs, thread creations, steal), the lines of /proc/interrupts that no probe sees, and cpuidle's counts of idle
// states. Read by Recording at start and end between two reads of the clock, so that `monitor check` can tell which
// tokens they cover. See proc(5), and the kernel's admin-guide/pm/cpuidle.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace monitor::record {

struct KernelCounts {
	std::uint64_t before = 0, after = 0;                 // trace time around the read
	std::uint64_t context_switches = 0;                  // ctxt
	std::uint64_t interrupts = 0;                        // intr, all CPUs and vectors
	std::vector<std::uint64_t> steal_ns;                 // by CPU number
	std::optional<std::uint64_t> softirqs;               // run
	std::optional<std::uint64_t> thread_creations;       // processes: threads too
	std::map<std::string, std::uint64_t> interrupt_rows; // /proc/interrupts, one sum per row
	std::uint64_t idle_before = 0, idle_after = 0;       // trace time around the read of idle_ends
	std::optional<std::uint64_t> idle_ends;              // idle states entered and left, all CPUs; none: no cpuidle
};

KernelCounts read_kernel_counts(bool invariant_tsc);

} // namespace monitor::record
