// SPDX-License-Identifier: MIT
// What the running kernel has, by its type information (BTF): a list of its symbols would take it 50 ms to write. Used
// by the card to choose its probes, by preflight_checks.cpp to report what is missing, and by recording_file.cpp.
#pragma once

#include <string>

namespace monitor::card {

bool kernel_has_types();
bool kernel_has_tracepoint(const std::string &name);
// The tracepoint at which events of a class are posted; older kernels have another one for block_io_start. "": none.
std::string tracepoint_of(const std::string &event);
// Where a thread that runs for long is observed: the timer's own tracepoint, or that of all device interrupts.
std::string timer_tracepoint();

// Whether a probe can read the per-CPU variable __irq_regs (CONFIG_KALLSYMS_ALL). Needs privilege: it is tried.
bool kernel_shows_interrupted_registers();

// Whether this kernel excludes interrupt time from a thread's sum_exec_runtime (CONFIG_IRQ_TIME_ACCOUNTING).
bool kernel_takes_irq_time_out();
// The flags that probes see at a switch: EDC_SWITCH_*.
struct SwitchFlags {
	unsigned known = 0;
	unsigned throttle_count = 0; // its offset in struct cfs_rq, where that says who is throttled (before 6.18)
};
SwitchFlags kernel_switch_flags();

// Probes at many places in a file by one link (6.6).
bool kernel_has_uprobe_multi();

} // namespace monitor::card
