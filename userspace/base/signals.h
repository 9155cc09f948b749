// SPDX-License-Identifier: MIT
// What this program was started with: the signals that it was told to ignore or to block. It goes on ignoring SIGHUP
// (nohup(1)), and a command that it runs gets all as this program got them. Called by main() before anything else
// changes them, by what waits for the signals that end a program, and in children that execute a command.
#pragma once

#include <csignal>
#include <initializer_list>

namespace monitor {

void remember_signals();

// Those of them that end this program: not SIGHUP, if it was started to ignore it. Shells let background jobs ignore
// SIGINT and SIGQUIT, too, but scripts send them to end a recorder.
sigset_t that_end(std::initializer_list<int> numbers);

// In a child that is about to execute.
void restore_signals();

} // namespace monitor
