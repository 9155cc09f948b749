// SPDX-License-Identifier: MIT
// Pending requests to a run's flight recorder to take a snapshot (`monitor fleet snapshot`), without waiting for the
// reply. The recorder's end is recording/flight/snapshot_requests.cpp, which runs as another user.
// Invariant: each command is answered once, also if the recorder ends.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "fleet/wire/control.h"
#include "fleet/wire/reports.h"
#include "recording/recorder/snapshot_question.h"

namespace monitor::agent {

class SnapshotCommands {
public:
	static constexpr std::size_t max_waiting = 8;

	// "": requested; else the reason, as the end of a message. Throws Error.
	std::string ask(pid_t recorder, const fleet::ControlMessage &message);
	// Call take() when one is readable.
	void add_fds(std::vector<pollfd> &to) const;
	// The answers since the last call.
	std::vector<fleet::CommandAnswer> take();

private:
	struct Pending {
		std::string nonce, run;
		std::uint64_t issued_ns;
		record::SnapshotQuestion question;
	};
	std::list<Pending> pending_;
};

} // namespace monitor::agent
