// SPDX-License-Identifier: MIT
// `monitor agent`: prepares keys and spool, and splits into the privileged process, which keeps the privileges, and the
// part with the network, which gives all of them up. Called by tools/monitor/cmd_agent.cpp.
//
//     SPOOL/runs/RUN        traces; the directory belongs to the user that the network process becomes
//     SPOOL/starter/nonces  commands that were obeyed; belongs to whoever started the agent
//
// Without root nothing is split by user: recordings are of programs' own events.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "fleet/wire/forward.h"

namespace monitor::agent {

struct AgentOptions {
	std::string keys;  // directory
	std::string hub;   // "": as the keys say
	std::string spool; // "": /var/lib/monitor-agent, or below the user's ~/.local/state
	std::uint64_t spool_max_bytes = 10ull << 30;
	fleet::Forward forward = fleet::Forward::batch; // unless the command that starts a recording says so
	std::string user;                               // "": monitor-agent, or nobody
	std::string host;                               // "": this machine's name must be the certificate's
	std::set<std::string> allow;                    // options of the allow-list
	std::string allow_commands;                     // the user that they run as; "": none
	std::string version;                            // of monitor
};

// Until SIGTERM or SIGINT; the exit code. Throws Error.
int run_agent(const AgentOptions &options);

} // namespace monitor::agent
