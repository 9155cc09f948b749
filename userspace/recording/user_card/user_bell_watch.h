// SPDX-License-Identifier: MIT
// Decides whose bells are heard until the next pass of the drain thread (monitor/user_ring.h). Called by
// user_drain.cpp, for each process once in a pass; the thread that waits for the bells is in user_bells.h.
//
// A program that rings without need is not heard for a while, and longer each time: whatever programs do, they cannot
// keep the drain thread busy. If no process is found to have rung, one of them hides it: then all are polled for a
// while. The words are untrusted. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "user_bells.h"

namespace monitor::card {

// What is known about one process's bell.
struct Bell {
	bool rung = false;
	std::uint64_t from = 0, pause = 0; // it is not heard before this time; ticks of the time stamp counter
	std::uint64_t met = 0;             // when it was first looked at; 0: never
};

class BellWatch {
public:
	// `on_bell` is called in a thread of UserBells.
	explicit BellWatch(std::function<void()> on_bell) : bells_(std::move(on_bell)) {}

	void set_ticks_per_second(std::uint64_t ticks) { ticks_per_second_ = ticks; }
	void stop() { bells_.stop(); }

	// A pass: begin(), then update() or poll() for each process that has not ended, then end().
	void begin(std::uint64_t now);
	// Handles what the process did with its bell. `needed`: there was enough to take.
	void update(std::uint32_t &word, Bell &bell, bool needed);
	// This process's bell cannot be heard.
	void poll() { must_poll_ = true; }
	void end();

	// How soon the next pass must follow, because there are processes whose bells are not heard before it.
	std::chrono::nanoseconds longest_wait() const;

private:
	std::uint64_t longer(std::uint64_t pause) const;

	std::uint64_t ticks_per_second_ = 0;
	std::uint64_t now_ = 0; // when the pass began
	bool must_poll_ = false;
	bool connects_ = false;              // a process that has its rings does not ring yet
	bool rung_was_found_ = false;        // in this pass
	std::vector<std::uint32_t *> quiet_; // of this pass
	std::vector<std::uint32_t *> heard_; // that are waited for
	bool hidden_ = false;                // a bell was rung, and no process was found that rang it
	std::uint64_t hidden_pause_ = 0, from_ = 0;
	UserBells bells_;
};

} // namespace monitor::card
