// SPDX-License-Identifier: MIT
// Helpers: processes that this one forked. Signals of the terminal do not reach them, and every wait for one has a time
// limit: it may hang in a file system that does not answer, or still run as another user, whom we may not signal.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "fd.h"

namespace monitor {

// Both ends of a pipe, the one to read first, or of sockets of this type (unix(7)). Throws Error with this sentence.
std::pair<Fd, Fd> make_pipe(const char *refusal);
std::pair<Fd, Fd> make_socket_pair(int type, const char *refusal);

// In the helper, when it has the user that it stays: it ends with `parent`, the process that forked it, and not by what
// is sent to all at once: from a terminal, by a service that is stopped, by pkill(1). SIGKILL alone is not blocked
// then.
void become_helper(pid_t parent);

// Forks one that has our descriptors `kept` as 3, 4 and so on, and no others but the first three. `drop` gives up
// privileges; it ends after `serve`, or if one of them throws. Before other threads exist. -1: errno says why not.
pid_t start_helper(const std::vector<int> &kept, const std::function<void()> &drop, const std::function<void()> &serve);

// Its status, as waitpid(2) has it, if it ends in time.
std::optional<int> wait_for_end(pid_t child, std::chrono::milliseconds at_most);

// Kills it and reaps it. One that cannot be killed within a second is left to itself.
void end_process(pid_t child);

} // namespace monitor
