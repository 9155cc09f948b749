// SPDX-License-Identifier: MIT
// The recorders that run on this machine: several can, each with probes and rings of its own, and each says what else
// there was. A recorder has a socket whose name tells its PID; the kernel lists it for as long as the process lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"

namespace monitor::card {

// To be kept while recording.
Fd announce_recorder();
// All others in this network namespace, in order.
std::vector<pid_t> other_recorders();
// The one that writes files of this directory, or has it open; none, or not to be known by this user.
std::optional<pid_t> recorder_of(const std::string &directory);
// Of a recorder's BPF maps, rings included; none: not to be known by this user.
std::optional<std::uint64_t> map_bytes_of(pid_t pid);

// The numbers in the names of the sockets PREFIXnumber of unix(7) in the abstract namespace, each once. Anybody can
// choose such a name.
std::vector<pid_t> pids_in_socket_names(std::string_view prefix);

} // namespace monitor::card
