// SPDX-License-Identifier: MIT
// What triggers do as the user on whose behalf the recording runs: commands (run 'CMD') and signals. A process of its
// own, forked before the recorder gives up its privileges and confines itself to its directory. It knows the commands
// from then on; a request names one by its number, so that whoever takes over the recorder can run no other. Used by
// trigger_acts.cpp, in the main thread.
//
// One command at a time. It is not ended when the recording ends.
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
	~TriggerRunner(); // without waiting for a command
	TriggerRunner(const TriggerRunner &) = delete;
	TriggerRunner &operator=(const TriggerRunner &) = delete;

	struct Ended {
		std::uint32_t command; // its number
		int status;            // 0: it succeeded
	};

	// Runs a command with these additions to its environment, NAME=VALUE each. False: one is running, or the
	// process is not there any more, or does not answer.
	bool run(std::uint32_t command, const std::vector<std::string> &environment);
	// False: it was refused, or there is no such process, or as above. This process is never signalled.
	bool signal(pid_t process, int number);
	// Readable if a command has ended.
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
