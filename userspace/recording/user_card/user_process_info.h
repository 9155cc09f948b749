// SPDX-License-Identifier: MIT
// What the kernel reports about instrumented programs' processes and threads. Called by user_process_table.cpp and
// user_process.cpp.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "monitor/card.h"

namespace monitor::card {

// A process's name and its parent; empty if it no longer exists.
edc_task describe_process(pid_t pid);

// Whether its threads have other numbers for themselves than for the recorder: it runs in another pid namespace.
bool in_other_pid_namespace(pid_t pid);

// Whether this process has this thread.
bool has_thread(pid_t pid, std::uint32_t tid);

} // namespace monitor::card
