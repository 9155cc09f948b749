// SPDX-License-Identifier: MIT
// What this program was started with: the signals that it was told to ignore (nohup(1)) or to block. It goes on
// ignoring those, and a command that it runs gets both as it got them. Called by main() before anything else changes
// them, by what waits for the signals that end a program, and in children that execute a command.
#pragma once

#include <csignal>
#include <initializer_list>

namespace monitor {

void remember_signals();

// Those of them that it was not started to ignore.
sigset_t not_ignored(std::initializer_list<int> numbers);

// In a child that is about to execute.
void restore_signals();

} // namespace monitor
