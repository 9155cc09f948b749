// SPDX-License-Identifier: MIT
// Signed commands to a run's flight recorder to take a snapshot (`monitor fleet snapshot`), from the question to the
// answer, without waiting for it.
//
// Made and used by privileged_process.cpp, one for each run, in its only thread; the recorder's end is
// recording/flight/snapshot_requests.cpp, which runs as another user (snapshot_answer.h).
// Invariant: each command that was asked is answered once, also if the recorder ends.
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

	// "" if it was asked, else the end of a sentence. Throws Error.
	std::string ask(pid_t recorder, const fleet::ControlMessage &message);
	// Call take() when one is readable.
	void add_fds(std::vector<pollfd> &to) const;
	// What was answered since.
	std::vector<fleet::CommandAnswer> take();

private:
	struct Asked {
		std::string nonce, run;
		std::uint64_t issued_ns;
		record::SnapshotQuestion question;
	};
	std::list<Asked> asked_;
};

} // namespace monitor::agent
