// SPDX-License-Identifier: MIT
// Features of the running kernel, from its BTF (reading /proc/kallsyms takes 50 ms). The card chooses its probes by
// them, and `monitor doctor` reports what is missing.
#pragma once

#include <string>

namespace monitor::card {

bool kernel_has_types();
bool kernel_has_tracepoint(const std::string &name);
// The tracepoint at which events of a class are posted; older kernels have another one for block_io_start. "": none.
std::string tracepoint_of(const std::string &event);
// The tracepoint at which long-running threads are observed: the local timer's, or that of all device interrupts.
std::string timer_tracepoint();

// Whether a probe can read the per-CPU variable __irq_regs (CONFIG_KALLSYMS_ALL). Tries it, which needs privilege.
bool kernel_shows_interrupted_registers();

// Whether this kernel excludes interrupt time from a thread's sum_exec_runtime (CONFIG_IRQ_TIME_ACCOUNTING).
bool kernel_takes_irq_time_out();
// EDC_SWITCH_* flags that probes can read at a switch.
struct SwitchFlags {
	unsigned known = 0;
	unsigned throttle_count = 0; // offset in struct cfs_rq (before 6.18)
};
SwitchFlags kernel_switch_flags();

// Linux 6.6.
bool kernel_has_uprobe_multi();

} // namespace monitor::card
