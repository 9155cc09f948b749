// SPDX-License-Identifier: MIT
// A command that runs here while hosts are recorded (`monitor fleet record -- CMD`). Used by fleet_follow.cpp.
// Signals that this process waits for (termination.h) are not blocked in the command.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor {

class LocalCommand {
public:
	// Throws Error if it cannot be started.
	explicit LocalCommand(const std::vector<std::string> &words)
	{
		std::vector<char *> argv;
		for (const std::string &word : words)
			argv.push_back(const_cast<char *>(word.c_str()));
		argv.push_back(nullptr);
		posix_spawnattr_t attributes;
		sigset_t none;
		::sigemptyset(&none);
		::posix_spawnattr_init(&attributes);
		::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
		::posix_spawnattr_setsigmask(&attributes, &none);
		const int error = ::posix_spawnp(&pid_, argv[0], nullptr, &attributes, argv.data(), environ);
		::posix_spawnattr_destroy(&attributes);
		if (error)
			throw Error(error, "cannot run " + words[0]);
	}

	// Its exit code, 128 and the signal's number, or none as long as it runs.
	std::optional<int> exit_code()
	{
		int status;
		if (!code_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
			code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		return code_;
	}
	void end()
	{
		if (!exit_code())
			::kill(pid_, SIGTERM);
	}

private:
	pid_t pid_ = -1;
	std::optional<int> code_;
};

} // namespace monitor
