// SPDX-License-Identifier: MIT
// Decides which processes may wake the drain thread before its next pass by their futex (`bell` in
// monitor/user_ring.h). Updated once per process and pass; user_wakeups.h has the thread that waits for the futexes.
//
// Needless wake-ups mute a process, for longer each time, so that programs cannot keep the drain thread busy. If a
// wake-up comes from no known process, one has reset its word: then all are polled for a while. The words are
// untrusted. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "user_wakeups.h"

namespace monitor::card {

// State of one process's wake-ups.
struct WakeupState {
	bool woken = false;
	std::uint64_t muted_until = 0, mute_ticks = 0; // TSC ticks
	std::uint64_t first_seen = 0;                  // 0: never
};

class WakeupWatch {
public:
	// `on_wakeup` is called in a thread of UserWakeups.
	explicit WakeupWatch(std::function<void()> on_wakeup) : wakeups_(std::move(on_wakeup)) {}

	void set_ticks_per_second(std::uint64_t ticks) { ticks_per_second_ = ticks; }
	void stop() { wakeups_.stop(); }

	// A pass: begin(), then update() or poll() for each process that has not ended, then end().
	void begin(std::uint64_t now);
	// Handles a process's word. `needed`: its rings had enough for a wake-up.
	void update(std::uint32_t &word, WakeupState &state, bool needed);
	// For a process without a usable futex, which must be polled.
	void poll() { must_poll_ = true; }
	void end();

	// Maximum wait until the next pass, because of muted or polled processes.
	std::chrono::nanoseconds longest_wait() const;

private:
	std::uint64_t next_mute_ticks(std::uint64_t before) const;

	std::uint64_t ticks_per_second_ = 0;
	std::uint64_t now_ = 0; // when the pass began
	bool must_poll_ = false;
	bool connects_ = false;                    // a process has rings, but does not use its futex yet
	bool found_woken_ = false;                 // in this pass
	std::vector<std::uint32_t *> to_wait_for_; // words to wait for, of this pass
	std::vector<std::uint32_t *> waited_for_;  // words being waited for
	bool has_unknown_waker_ = false;           // a wake-up came from no known process
	std::uint64_t poll_ticks_ = 0, poll_until_ = 0;
	UserWakeups wakeups_;
};

} // namespace monitor::card
