// SPDX-License-Identifier: MIT
// The signal dispositions and mask that this program inherited. SIGHUP stays ignored (nohup(1)), and commands are
// executed with the inherited state. Call remember_signals() before anything changes them.
#pragma once

#include <csignal>
#include <initializer_list>

namespace monitor {

void remember_signals();

// Those of `numbers` that end this program: not SIGHUP, if it was ignored at the start. Shells ignore SIGINT and
// SIGQUIT in background jobs, but scripts send them to end a recorder, so these count.
sigset_t terminating_signals(std::initializer_list<int> numbers);

// In a child before exec.
void restore_signals();

} // namespace monitor
