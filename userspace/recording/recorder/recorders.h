// SPDX-License-Identifier: MIT
// The recorders that run on this machine: each has its own probes and rings, and notes the others in its trace. A
// recorder binds a socket with its PID in the name, which the kernel lists while the process lives. Anybody can bind
// any name in the abstract namespace (unix(7)): a random suffix avoids collisions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/fd.h"

namespace monitor::record {

// Keep it open while recording.
Fd announce_recorder();
// All others in this network namespace, in order.
std::vector<pid_t> other_recorders();
// The recorder that writes files in this directory, or has it open; none, or not visible to this user.
std::optional<pid_t> recorder_of(const std::string &directory);
// Memory of a recorder's BPF maps, including rings; none: not visible to this user.
std::optional<std::uint64_t> map_bytes_of(pid_t pid);

// The address of the socket of this name.
struct SocketAddress {
	sockaddr_un name{};
	socklen_t length = 0;

	explicit SocketAddress(std::string_view text);
	const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&name); }
};

// The prefix, the pid namespace unless it is the initial one, this process's PID, and a random suffix.
std::string own_socket_name(std::string_view prefix);

struct SocketName {
	std::string name;
	pid_t pid = 0; // according to the name, which is untrusted
};
// Existing names of this pid namespace, without duplicates.
std::vector<SocketName> socket_names(std::string_view prefix);

} // namespace monitor::record
