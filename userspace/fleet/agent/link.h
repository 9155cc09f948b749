// SPDX-License-Identifier: MIT
// The socket pair between the agent's two processes, one datagram per message. The privileged process sends answers to
// be published, the list of runs, those with coordinated snapshots, and fetch requests; the network process sends
// envelopes unchanged. Both run the same version of the program.
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
    link_coordinated = 'J',            // coordinated_runs_text(), always all runs
    link_fetch = 'F';                  // fetch_request_text()

// Larger than any valid envelope, so that oversized ones are detected.
inline constexpr std::size_t max_link_bytes = fleet::max_envelope_bytes + 1;

// A run with coordinated snapshots: permitted by the operator's signed command, and recorded accordingly.
struct CoordinatedRun {
	std::string run;
	pid_t recorder = 0;
	std::uint64_t snapshots = 0; // --snapshots: limit
};
std::string coordinated_runs_text(const std::vector<CoordinatedRun> &runs);
std::vector<CoordinatedRun> parse_coordinated_runs(std::string_view text);

// The privileged process's end, then the network process's. Throws Error.
std::pair<Fd, Fd> make_link();

} // namespace monitor::agent
