// SPDX-License-Identifier: MIT
// The recorders that run on this machine: several can, each with probes and rings of its own, and each says what else
// there was. A recorder has a socket whose name tells its PID; the kernel lists it for as long as the process lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"

namespace monitor::card {

struct Recorder {
	pid_t pid = 0;
	std::optional<std::uint64_t> map_bytes; // of its BPF maps, rings included; none: not to be known by this user
};

// To be kept while recording.
Fd announce_recorder();
// All others in this network namespace, by PID.
std::vector<Recorder> other_recorders();

} // namespace monitor::card
