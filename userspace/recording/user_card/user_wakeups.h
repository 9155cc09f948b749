// SPDX-License-Identifier: MIT
// Waits for wake-ups by instrumented programs: futexes in their areas (`bell` in monitor/user_ring.h), with which a
// program signals that a ring is half full. Needs a thread, because a futex is not a descriptor. user_wakeup_watch.cpp
// sets after each pass which ones to wait for, so that a pass is requested only once.
//
// The words are untrusted and never read here; the kernel reads them, and fails for a word that is no longer mapped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace monitor::card {

class UserWakeups {
public:
	// Limit of futexes (futex_waitv(2) takes 128).
	static constexpr std::size_t max_futexes = 127;

	// `on_wakeup` is called in that thread.
	explicit UserWakeups(std::function<void()> on_wakeup) : on_wakeup_(std::move(on_wakeup)) {}
	~UserWakeups() { stop(); }

	// Waits until one of these words is set: `on_wakeup` is called once, and then nothing until the next call.
	void wait_for(const std::vector<std::uint32_t *> &words);
	void stop();

	// False if this kernel (before 5.16) cannot wait for several words: there are no wake-ups.
	bool works() const { return works_.load(std::memory_order_relaxed); }
	// Whether a word was set since the last wait_for(), and which; null: it was already set, or its memory was
	// gone.
	bool woken() const { return woken_.load(std::memory_order_acquire); }
	const std::uint32_t *which() const { return which_.load(std::memory_order_relaxed); }

private:
	void run();
	void interrupt_wait();

	std::function<void()> on_wakeup_;
	std::mutex lock_;
	std::vector<std::uint32_t *> words_;
	std::uint32_t version_ = 0; // of words_; also a futex
	std::atomic<bool> works_{true}, woken_{false}, stopping_{false};
	std::atomic<const std::uint32_t *> which_{nullptr};
	std::thread thread_;
};

} // namespace monitor::card
