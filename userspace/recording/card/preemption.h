// SPDX-License-Identifier: MIT
// Whether the running kernel can preempt a program at a tracepoint that is reached with preemption enabled, such as
// those of system calls. From 7.0 on, kernels that preempt at all can. Called by preflight.cpp and
// preflight_checks.cpp.
#pragma once

#include <optional>

namespace monitor::card {

// Programs read the kernel's preemption count at a call and at a switch, which takes some milliseconds; whether one is
// preempted meanwhile does not matter. Needs the privilege to load them. Nullopt: unknown, because the privilege is
// missing, this kernel does not show the count, or there was no switch within a second.
std::optional<bool> probes_can_be_preempted();

} // namespace monitor::card
