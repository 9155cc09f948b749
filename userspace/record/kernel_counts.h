// SPDX-License-Identifier: MIT
// The kernel's own figures for the machine, as oracles for the tokens: /proc/stat (context switches, interrupts, steal)
// and the lines of /proc/interrupts that no probe sees. Read by recording.cpp at start and end between two looks at
// the clock, so that `monitor check` knows which tokens they cover. See proc(5).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace monitor::record {

struct KernelCounts {
	std::uint64_t before = 0, after = 0;                 // trace time around the read
	std::uint64_t context_switches = 0;                  // ctxt
	std::uint64_t interrupts = 0;                        // intr, all CPUs and vectors
	std::vector<std::uint64_t> steal_ns;                 // by CPU number
	std::map<std::string, std::uint64_t> interrupt_rows; // /proc/interrupts, one sum per row
};

KernelCounts read_kernel_counts(bool invariant_tsc);

} // namespace monitor::record
