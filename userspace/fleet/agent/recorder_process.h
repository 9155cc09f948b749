// SPDX-License-Identifier: MIT
// A `monitor record` that the privileged process has started: its process, the pipe on which it says that it records,
// and what it prints. Or a command that runs meanwhile (--allow-commands), as another user.
//
// Made and used by privileged_process.cpp in its only thread. The child has nothing of the privileged process's: no
// descriptor, no environment, a session of its own; a recorder ends when the privileged process is gone. Invariant: a
// child that was started is waited for, by the privileged process's SIGCHLD.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"
#include "recording/recorder/user.h"

namespace monitor::agent {

// Who a child of the privileged process is.
struct ChildIdentity {
	std::optional<record::User> on_behalf_of; // the recorder stays root until it records, and is then this user
	std::optional<record::User> becomes;      // a command is this user from its start
};

class RecorderProcess {
public:
	// argv[0] is the path of the program. Throws Error if there can be no further process.
	RecorderProcess(const std::vector<std::string> &argv, const ChildIdentity &identity);
	RecorderProcess(RecorderProcess &&) = default;
	RecorderProcess &operator=(RecorderProcess &&) = default;

	pid_t pid() const { return pid_; }
	// Readable when the recorder records, or has ended; -1 afterwards.
	int ready_fd() const { return is_ready_known_ ? -1 : ready_.get(); }
	// True: it records, said once. False: it ended, or was said before.
	bool take_ready();
	int output_fd() const { return output_.get(); }
	// Whole lines printed since the last call, without control characters, of bounded length. What is left of very
	// much comes with the next call.
	std::vector<std::string> take_lines();
	// The last sentence that it printed: why it failed, if it did.
	const std::string &last_words() const { return last_words_; }
	// It is asked to end, as by Ctrl-C.
	void end() const;
	// With all processes that it has started, unless they left its group: a command.
	void end_session() const;

private:
	void split(std::vector<std::string> &lines);

	pid_t pid_ = -1;
	bool is_ready_known_ = false;
	Fd ready_, output_;
	std::string rest_, last_words_;
};

} // namespace monitor::agent
