// SPDX-License-Identifier: MIT
// A `monitor record` child of the privileged process: its pid, the pipe on which it reports that it records, and its
// output. Or a command that runs meanwhile (--allow-commands), as another user.
//
// The child inherits no descriptor and no environment, and has a session of its own; a recorder ends when its parent is
// gone. One thread. Invariant: every child is waited for, on SIGCHLD.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"
#include "recording/recorder/user.h"

namespace monitor::agent {

// The user of a child.
struct ChildIdentity {
	std::optional<record::User> on_behalf_of; // a recorder drops from root to this user once it records
	std::optional<record::User> run_as;       // a command runs as this user
};

class RecorderProcess {
public:
	// argv[0] is the program's path. Throws Error if no process can be created.
	RecorderProcess(const std::vector<std::string> &argv, const ChildIdentity &identity);
	RecorderProcess(RecorderProcess &&) = default;
	RecorderProcess &operator=(RecorderProcess &&) = default;

	pid_t pid() const { return pid_; }
	// Readable when the recorder has started to record, or has ended; -1 afterwards.
	int ready_fd() const { return is_ready_known_ ? -1 : ready_.get(); }
	// True once, when it has started to record. False: it ended, or it was already reported.
	bool poll_ready();
	int output_fd() const { return output_.get(); }
	// Whole lines printed since the last call, without control characters, limited in length and number; the rest
	// comes with the next call.
	std::vector<std::string> take_lines();
	// The last message that it printed: the reason, if it failed.
	const std::string &last_message() const { return last_message_; }
	// Ends it like Ctrl-C.
	void end() const;
	// Ends a command and all processes in its process group.
	void end_session() const;

private:
	void split_lines(std::vector<std::string> &lines);

	pid_t pid_ = -1;
	bool is_ready_known_ = false;
	Fd ready_, output_;
	std::string partial_line_, last_message_;
};

} // namespace monitor::agent
