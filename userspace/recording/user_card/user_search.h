// SPDX-License-Identifier: MIT
// Finds running instrumented programs by an ELF note (as with USDT), and, like incrementing a USDT semaphore, makes
// those without a recorder look for one again. For `record --user`. Call it while the recorder still has its
// privileges.
//
// Their files and memory are other users', so the search runs in a separate process, with only the capabilities that it
// needs; bytes and time are bounded, per file, per process and in total, and the recorder need not wait for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <sys/types.h>

#include "base/child_process.h"
#include "base/fd.h"
#include "recording/recorder/user.h"

namespace monitor::card {

class UserSearch {
public:
	// Starts the search, on behalf of this user. Before other threads exist. Throws Error.
	explicit UserSearch(const record::User &user);
	~UserSearch() { end_process(pid_); } // ends it
	UserSearch(const UserSearch &) = delete;
	UserSearch &operator=(const UserSearch &) = delete;

	int fd() const { return pidfd_.get(); } // readable when it is over
	// Processes that had too much to search, took too long, or were not searched yet.
	std::uint64_t missed() const;

private:
	using Clock = std::chrono::steady_clock;
	struct Progress;
	[[noreturn]] static void supervise(Progress &progress);
	static void look_through(Progress &progress, const std::vector<pid_t> &pids, Clock::time_point end);

	Mapping shared_;
	pid_t pid_ = 0;
	Fd pidfd_;
};

} // namespace monitor::card
