// SPDX-License-Identifier: MIT
// `monitor agent`: prepares keys and spool, and splits into the privileged process and the network process, which drops
// all privileges.
//
//     SPOOL/runs/RUN        traces; the directory belongs to the user of the network process
//     SPOOL/starter/nonces  commands that were executed; belongs to whoever started the agent
//
// Without root both have one user, and only programs' own events are recorded.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "fleet/wire/forward.h"

namespace monitor::agent {

struct AgentOptions {
	std::string keys;  // directory
	std::string hub;   // "": as in the keys' directory
	std::string spool; // "": /var/lib/monitor-agent, or below the user's ~/.local/state
	std::uint64_t spool_max_bytes = 10ull << 30;
	fleet::Forward forward = fleet::Forward::batch; // unless the command of a recording sets it
	std::string user;                               // "": monitor-agent, or nobody
	std::string host;                               // "": this machine's name; must match the certificate
	std::set<std::string> allow;                    // from the allow-list
	std::string allow_commands;                     // the user that commands run as; "": none may
	std::string version;                            // of monitor
};

// Runs until SIGTERM or SIGINT; returns the exit code. Throws Error.
int run_agent(const AgentOptions &options);

} // namespace monitor::agent
