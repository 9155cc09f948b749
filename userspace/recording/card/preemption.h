// SPDX-License-Identifier: MIT
// Whether the running kernel can preempt BPF programs at tracepoints that are hit with preemption enabled, such as
// those of system calls. From 7.0 on, all preemptible kernels can.
#pragma once

#include <optional>

namespace monitor::card {

// Loads programs that read the kernel's preemption count at a system call and at a switch; takes some milliseconds.
// Does not depend on an actual preemption. Needs privilege. Nullopt: unknown (no privilege, the count is not readable,
// or no switch within a second).
std::optional<bool> probes_can_be_preempted();

} // namespace monitor::card
