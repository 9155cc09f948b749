// SPDX-License-Identifier: MIT
// Whether the running kernel may preempt a program at a tracepoint that is reached with preemption enabled, as that of
// system calls. From 7.0 on those do that preempt at all. Called by preflight.cpp and preflight_checks.cpp.
#pragma once

#include <optional>

namespace monitor::card {

// The programs look at the kernel's own count, so this does not depend on what happens meanwhile. Needs the privilege
// to load them. Nullopt: it cannot be told, because it is missing or this kernel does not show the count.
std::optional<bool> probes_can_be_preempted();

} // namespace monitor::card
