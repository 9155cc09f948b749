// SPDX-License-Identifier: MIT
// Which tracepoints the running kernel has, according to its type information (BTF). Used by the card to choose its
// probes, and by preflight_checks.cpp to report what is missing.
#pragma once

#include <string>

namespace monitor::card {

bool kernel_has_types();
bool kernel_has_tracepoint(const std::string &name);
// Where a thread that runs for long is observed: the timer's own tracepoint, or that of all device interrupts.
std::string timer_tracepoint();

} // namespace monitor::card
