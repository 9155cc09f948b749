// SPDX-License-Identifier: MIT
// The command that a recording runs: started as the invoking user, held back until the probes are attached.
// Created by Recording before any other thread exists; called from the main thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"
#include "recording/recorder/user.h"

namespace monitor::record {

class Command {
public:
	// Forks; the child waits for go(). `environment`: each NAME=VALUE, to add to the child's. Throws Error.
	Command(const std::vector<std::string> &arguments, const User &user,
		const std::vector<std::string> &environment);
	~Command();

	pid_t pid() const { return pid_; }
	int pidfd() const { return pidfd_.get(); }

	// Let it run. Returns 0, or the errno of exec (the child has then ended).
	int go();

	void signal(int number) const;
	// Reap it if it has ended: its exit code, or 128 + the signal that killed it.
	std::optional<int> poll();
	int wait();

private:
	pid_t pid_ = -1;
	Fd pidfd_, start_, status_;
	std::optional<int> exit_code_;
};

} // namespace monitor::record
