// SPDX-License-Identifier: MIT
// What the kernel reports about instrumented programs' processes and threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>

#include <sys/types.h>

#include "monitor/card.h"

namespace monitor::card {

// A process's name and its parent; empty if it no longer exists.
edc_task describe_process(pid_t pid);

// How much more memory it may map under RLIMIT_MEMLOCK with mlockall(2). The maximum: unlimited, or already exceeded.
std::uint64_t lockable_bytes(pid_t pid);

// Whether it runs in another pid namespace, with other TIDs.
bool in_other_pid_namespace(pid_t pid);

// Translates TIDs of a process in another pid namespace. The TIDs that a program reports are untrusted: look-ups of
// unknown ones are rate-limited.
class ThreadNumbers {
public:
	explicit ThreadNumbers(pid_t process) : process_(process) {}

	// The process's PID for a thread that ended before it was seen; the result is kept, so that its events stay
	// together.
	std::uint32_t find(std::uint32_t untrusted_tid);

private:
	void read_threads();

	pid_t process_;
	std::unordered_map<std::uint32_t, std::uint32_t> outer_tids_;
	std::chrono::steady_clock::time_point read_at_{};
};

// Whether this process has this thread.
bool has_thread(pid_t pid, std::uint32_t tid);

} // namespace monitor::card
