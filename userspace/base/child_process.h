// SPDX-License-Identifier: MIT
// The end of a process that this one forked to help it. No wait for a helper is without an end: it may hang in a file
// system that does not answer, or not have become our user yet, so that it must not be killed by us.
#pragma once

#include <chrono>
#include <optional>

#include <sys/types.h>

namespace monitor {

// Its status, as waitpid(2) has it, if it ends in time.
std::optional<int> wait_for_end(pid_t child, std::chrono::milliseconds at_most);

// Kills it and reaps it. One that cannot be killed within a second is left to itself.
void end_process(pid_t child);

} // namespace monitor
