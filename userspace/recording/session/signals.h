// SPDX-License-Identifier: MIT
// The signals that end a recording, as a descriptor to poll.
#pragma once

#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/signals.h"

namespace monitor::record {

// SIGINT, SIGTERM, SIGQUIT and, if it was not ignored at the start, SIGHUP; blocked in every thread created later.
// Throws Error.
class Signals {
public:
	Signals()
	{
		const sigset_t set = terminating_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
		::sigprocmask(SIG_BLOCK, &set, &before_);
		::signal(SIGPIPE, SIG_IGN);
		fd_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
		if (!fd_) {
			const int error = errno;
			::sigprocmask(SIG_SETMASK, &before_, nullptr);
			throw Error(error, "cannot watch for the signals that end a recording");
		}
	}
	~Signals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

	int fd() const { return fd_.get(); }
	bool next(signalfd_siginfo &info) { return ::read(fd_.get(), &info, sizeof info) == sizeof info; }

private:
	sigset_t before_;
	Fd fd_;
};

} // namespace monitor::record
