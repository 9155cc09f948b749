// SPDX-License-Identifier: MIT
// The drain thread: moves closed blocks from the card's rings into the pool, and every 100 ms takes a clock snapshot
// and steers the clock. It drains often while the rings fill fast, and rarely otherwise; a ring that becomes half full
// between two passes wakes it.
// Called by recording.cpp: start(), then stop(), then drain_rest() once no probe runs any more.
// Next in the flow: writer.cpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>

#include "base/fd.h"
#include "blocks.h"
#include "clock.h"
#include "control_stream.h"
#include "failure.h"
#include "recording/card/bpf_card.h"
#include "recording/user_card/user_card.h"

namespace monitor::record {

class Drain {
public:
	// Either card may be missing. An error that ends the thread before stop() is reported to `failure`.
	Drain(card::BpfCard *card, card::UserCard *users, BlockPool &pool, ControlStream &control,
	      ClockSteering &steering, Failure &failure);
	~Drain() { stop(); }

	void start();
	void stop();

	// How a user ring's new stream gets its number.
	void set_make_stream(card::UserCard::MakeStream make) { make_stream_ = std::move(make); }

	// Called with each clock snapshot, in its thread, before it is written.
	void set_before_sync(std::function<void(const Sync &)> call) { before_sync_ = std::move(call); }

	// Called with a clock snapshot each time this has passed, in its thread.
	void set_every(std::chrono::nanoseconds interval, std::function<void(const Sync &)> call);

	// Take what is closed now. Only while the thread does not run.
	void look() { drain_all(); }

	// After the probes are detached: closed blocks, open ones, and an empty block that reports the last losses.
	// `at_end` is called before the control stream ends.
	void drain_rest(const std::function<void()> &at_end = {});

	// A finished block of the control stream. Never lost: it is kept until the pool has a free block.
	void push_control(const std::byte *block);

	// Take a clock snapshot, write it to the control stream and steer.
	void sync();

	// The fullest any ring was at a pass, in thousandths.
	unsigned worst_fill() const { return worst_fill_.load(std::memory_order_relaxed); }

private:
	using Clock = std::chrono::steady_clock;

	void run();
	void wake() const;
	void wait_for_work(Clock::time_point last_look, Clock::time_point next_look);
	bool half_full() const;
	void push_pending();
	bool push(StreamNumber stream, const std::byte *block, std::uint32_t left_over = 0);
	unsigned drain_all(bool last = false);
	bool kernel_blocks_left() const;
	unsigned drain_ring(unsigned cpu, unsigned level);
	void drain_open_block(unsigned cpu, unsigned level);
	void push_or_wait(StreamNumber stream, const std::byte *block);

	card::BpfCard *card_;
	card::UserCard *users_;
	card::UserCard::MakeStream make_stream_;
	card::UserCard::Push push_user_;
	std::function<void(const Sync &)> before_sync_, every_;
	std::chrono::nanoseconds interval_{0}; // of every_
	BlockPool &pool_;
	ControlStream &control_;
	ClockSteering &steering_;
	Failure &failure_;
	std::deque<std::array<std::byte, EDC_BLOCK_SIZE>> pending_;
	std::atomic<unsigned> worst_fill_{0};
	Fd wakeup_;            // an eventfd: to stop, or to drain at once
	bool stalled_ = false; // the last pass found no free pool block for a block of the kernel
	std::atomic<bool> stopping_{false};
	std::thread thread_;
};

} // namespace monitor::record
