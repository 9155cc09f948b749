// SPDX-License-Identifier: MIT
// Hears the bells of instrumented programs (monitor/user_ring.h): futexes in their areas, by which a program says that
// half of a ring is full. A thread of its own waits for them, for a futex is no descriptor. Used by user_drain.cpp in
// the drain thread, which says after each look for which bells is waited until the next one: so each look is asked for
// once, whatever programs do, and a program that rings without need is left out for a while.
//
// The words are untrusted and never read here; the kernel does, and a word that is no longer mapped is an error to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace monitor::card {

class UserBells {
public:
	// More are not waited for (futex_waitv(2) takes 128).
	static constexpr std::size_t most = 127;

	// `on_ring` is called in the thread.
	explicit UserBells(std::function<void()> on_ring) : on_ring_(std::move(on_ring)) {}
	~UserBells() { stop(); }

	// Waits for these words to be rung, once: `on_ring` is called and then nothing until the next call.
	void wait_for(const std::vector<std::uint32_t *> &bells);
	void stop();

	// False: this kernel (before 5.16) cannot wait for several; nobody is heard.
	bool works() const { return works_.load(std::memory_order_relaxed); }
	// Whether one was rung since the last wait_for(), and which: null if a word was not quiet when the wait began,
	// or its memory had gone.
	bool rung() const { return rung_.load(std::memory_order_acquire); }
	const std::uint32_t *which() const { return which_.load(std::memory_order_relaxed); }

private:
	void run();
	void changed();

	std::function<void()> on_ring_;
	std::mutex lock_;
	std::vector<std::uint32_t *> bells_;
	std::uint32_t version_ = 0; // of bells_; a futex too
	std::atomic<bool> works_{true}, rung_{false}, stopping_{false};
	std::atomic<const std::uint32_t *> which_{nullptr};
	std::thread thread_;
};

} // namespace monitor::card
