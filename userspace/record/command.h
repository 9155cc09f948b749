// SPDX-License-Identifier: MIT
// The command that a recording runs: started as the invoking user, held back until the probes are attached.
// Called by recording.cpp from the main thread only, before any other thread exists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"

namespace monitor::record {

// The user on whose behalf the monitor runs: SUDO_UID and SUDO_GID when root was reached by sudo, else the caller.
struct User {
	uid_t uid = 0;
	gid_t gid = 0;
	std::string name;
	std::string home;
	std::string shell;
	bool differs = false; // from the process's own
};
User invoking_user();

class Command {
public:
	// Forks; the child waits for go(). Throws Error.
	Command(const std::vector<std::string> &arguments, const User &user);
	~Command();

	pid_t pid() const { return pid_; }
	int pidfd() const { return pidfd_.get(); }

	// Let it run. Returns 0, or the errno of exec (the child has ended then).
	int go();

	void signal(int number) const;
	// Reap it if it ended: its exit code, or 128 + the signal that killed it.
	std::optional<int> poll();
	int wait();

private:
	pid_t pid_ = -1;
	Fd pidfd_, start_, status_;
	std::optional<int> exit_code_;
};

// Give up every privilege: become the invoking user for good and keep no capability. The files and descriptors that
// are open stay; the process stays undumpable, so that its user cannot reach them by ptrace. Only before other threads
// exist. Throws Error.
void drop_privileges(const User &user);

} // namespace monitor::record
