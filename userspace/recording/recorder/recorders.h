// SPDX-License-Identifier: MIT
// The recorders that run on this machine: several can, each with probes and rings of its own, and each says what else
// there was. A recorder has a socket whose name tells its PID; the kernel lists it for as long as the process lives.
// Such names are in the abstract namespace of unix(7), where anybody can take any: a random end keeps one's own free.
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

// To be kept while recording.
Fd announce_recorder();
// All others in this network namespace, in order.
std::vector<pid_t> other_recorders();
// The one that writes files of this directory, or has it open; none, or not to be known by this user.
std::optional<pid_t> recorder_of(const std::string &directory);
// Of a recorder's BPF maps, rings included; none: not to be known by this user.
std::optional<std::uint64_t> map_bytes_of(pid_t pid);

// The address of the socket of this name.
struct SocketAddress {
	sockaddr_un name{};
	socklen_t length = 0;

	explicit SocketAddress(std::string_view text);
	const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&name); }
};

// PREFIX, if it is not the machine's first the PID namespace, this process's PID and something that nobody can guess.
std::string own_socket_name(std::string_view prefix);

struct SocketName {
	std::string name;
	pid_t pid = 0; // as the name says, which anybody can have chosen
};
// Those of this PID namespace that there are, each once.
std::vector<SocketName> socket_names(std::string_view prefix);

} // namespace monitor::record
