// SPDX-License-Identifier: MIT
// Runs triggers' commands (run 'CMD') and sends signals as the recording's user, in a child process forked before the
// recorder drops its privileges and confines itself. Requests name commands by number, so that a compromised recorder
// cannot run others. Main thread only.
//
// One command at a time, which may outlive the recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"
#include "recording/recorder/user.h"

namespace monitor::record {

class TriggerRunner {
public:
	// Before other threads exist. Throws Error.
	TriggerRunner(std::vector<std::string> commands, const User &user);
	~TriggerRunner(); // does not wait for a command
	TriggerRunner(const TriggerRunner &) = delete;
	TriggerRunner &operator=(const TriggerRunner &) = delete;

	struct Ended {
		std::uint32_t command; // its number
		int status;            // 0: it succeeded
	};

	// Runs a command with these additions to its environment, NAME=VALUE each. False: one is running, or the child
	// process is gone or does not answer.
	bool run(std::uint32_t command, const std::vector<std::string> &environment);
	// False: refused, no such process, or as above. Never signals this process.
	bool signal(pid_t process, int number);
	// Readable when a command has ended.
	int fd() const { return answers_.get(); }
	std::vector<Ended> take_ended();

private:
	struct Request;
	[[noreturn]] static void serve(const std::vector<std::string> &commands, int requests, int answers);

	Fd requests_, answers_;
	void give_up();

	bool is_running_ = false, is_lost_ = false;
	std::uint32_t running_ = 0;
	pid_t pid_ = 0;
};

} // namespace monitor::record
