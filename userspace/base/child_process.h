// SPDX-License-Identifier: MIT
// Helpers: forked child processes. The terminal's signals do not reach them. Every wait for one has a timeout: it may
// hang in a file system, or run as another user whom we may not signal.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "fd.h"

namespace monitor {

// Both ends of a pipe, read end first, or of sockets of this type (unix(7)). Throws Error with this message.
std::pair<Fd, Fd> make_pipe(const char *refusal);
std::pair<Fd, Fd> make_socket_pair(int type, const char *refusal);

// Called in the helper after its final change of user: it dies with `parent`, which forked it, and blocks all other
// signals (from a terminal, a stopped service, pkill(1)) except SIGKILL.
void become_helper(pid_t parent);

// Forks a helper whose descriptors are 0 to 2 and `kept`, as 3, 4 and so on. `drop_privileges` gives up privileges; the
// helper exits after `serve`, or if either throws. Call before other threads exist. -1: error, see errno.
pid_t start_helper(const std::vector<int> &kept, const std::function<void()> &drop_privileges,
		   const std::function<void()> &serve);

// The child's status as in waitpid(2), if it exits in time.
std::optional<int> wait_for_end(pid_t child, std::chrono::milliseconds timeout);

// Kills and reaps the child; gives up after a second.
void end_process(pid_t child);

} // namespace monitor
