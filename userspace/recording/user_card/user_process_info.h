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

// How much more memory it may lock without privilege, as mlockall(2) counts: all that it has mapped. The largest
// number: that may be any amount, or it has more already.
std::uint64_t lockable_bytes(pid_t pid);

// Whether its threads have other numbers for themselves than for the recorder: it runs in another pid namespace.
bool in_other_pid_namespace(pid_t pid);

// The kernel's numbers of the threads of a process in another pid namespace, by those that they have there. The program
// says the latter and may lie: what it does not have is not looked for all the time.
class ThreadNumbers {
public:
	explicit ThreadNumbers(pid_t process) : process_(process) {}

	// The process's for a thread that ended before it was seen; from then on, so that its events stay together.
	std::uint32_t find(std::uint32_t untrusted_tid);

private:
	void look();

	pid_t process_;
	std::unordered_map<std::uint32_t, std::uint32_t> outside_;
	std::chrono::steady_clock::time_point looked_{};
};

// Whether this process has this thread.
bool has_thread(pid_t pid, std::uint32_t tid);

} // namespace monitor::card
