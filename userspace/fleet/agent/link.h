// SPDX-License-Identifier: MIT
// What the privileged process tells the network process over their socket pair: an answer to be published, which runs
// there are, or in which of them this host takes part in the snapshots of all, or that a part of a trace is asked for.
// The other way envelopes go as they came. One datagram each. Used by privileged_process.cpp and network_process.cpp,
// which are of one program and one version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"
#include "fleet/wire/control.h"
#include "fleet/wire/reports.h"

namespace monitor::agent {

// The first byte of a datagram.
inline constexpr char link_answer = 'A',
		      link_runs = 'R', // command_answer_text(); presence_text() with the runs and `refused`
    link_coordinated = 'J',            // coordinated_runs_text(), complete each time
    link_fetch = 'F';                  // fetch_request_text()

// More than any envelope, so that one that is too large is seen to be.
inline constexpr std::size_t max_link_bytes = fleet::max_envelope_bytes + 1;

// A run of which the operator's signed command says that its hosts take part in each other's snapshots, and which the
// privileged process has started so.
struct CoordinatedRun {
	std::string run;
	pid_t recorder = 0;
	std::uint64_t snapshots = 0; // --snapshots: at most
};
std::string coordinated_runs_text(const std::vector<CoordinatedRun> &runs);
std::vector<CoordinatedRun> parse_coordinated_runs(std::string_view text);

// The privileged process's end, and the network process's. Throws Error.
std::pair<Fd, Fd> make_link();

} // namespace monitor::agent
