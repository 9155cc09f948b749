// SPDX-License-Identifier: MIT
// What ends a recording: a signal, its duration, its command, a failure, its size, or stop(). Part of a Recording,
// whose main thread waits here.
//
// The first SIGINT goes to the command, which may take its time to end; the second ends the recording, the third kills
// the command.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>

#include "base/fd.h"
#include "command.h"
#include "recording/rings/failure.h"
#include "signals.h"

namespace monitor::record {

class Ending {
public:
	// Throws Error.
	explicit Ending(std::optional<double> duration_s);

	// Any thread. `reason` is the end of a sentence.
	void stop(const std::string &reason);
	// Readable when a signal has come.
	int signals_fd() const { return signals_.fd(); }

	// Waits until the recording ends, and returns why. Calls check() at least every `check_ms` milliseconds (-1:
	// only on events); it returns a reason to end, or "". `command` may be null. `more`: further descriptors to
	// poll.
	std::string wait(Command *command, const Failure &failure, int check_ms,
			 const std::function<std::string()> &check, const std::vector<pollfd> &more = {});
	// Whether the command must be ended, too, because of stop() or the duration.
	bool ends_command() const { return ends_command_; }
	// Waits until the command has ended.
	void wait_for(Command &command);

private:
	void start_timer() const;
	bool handle_signals(Command *command);

	std::optional<double> duration_s_;
	Signals signals_;
	Fd timer_, stop_;
	std::mutex mutex_;
	std::string stop_reason_, signal_reason_;
	int signals_seen_ = 0;
	bool ends_command_ = false;
};

} // namespace monitor::record
