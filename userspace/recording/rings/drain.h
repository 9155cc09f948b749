// SPDX-License-Identifier: MIT
// The drain thread: moves closed blocks from the card's rings into the pool, and every 100 ms takes a clock snapshot
// and steers the clock. It drains often while the rings fill fast, and rarely otherwise; a ring that becomes half full
// between two passes wakes it.
// Call start(), then stop(), then drain_rest() once no probe runs any more.
// Next in the flow: writer.cpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include <sys/eventfd.h>

#include "base/buffering/drain_pace.h"
#include "base/fd.h"
#include "block_sink.h"
#include "blocks.h"
#include "clock.h"
#include "control_stream.h"
#include "failure.h"
#include "pass_log.h"
#include "recording/card/card_memory.h"
#include "recording/user_card/user_card.h"
#include "writer.h"

namespace monitor::record {

class Drain {
public:
	// Either card may be missing. An error that ends the thread before stop() is reported to `failure`.
	Drain(card::CardMemory *card, card::UserCard *users, BlockPool &pool, ControlStream &control,
	      ClockSteering &steering, Failure &failure);
	~Drain() { stop(); }

	void start()
	{
		thread_ = failure_.watched([this] { run(); });
	}
	void stop();

	// The writer numbers new streams of user rings.
	void set_writer(Writer &writer) { writer_ = &writer; }

	// Streams that are written to files. `own`: only the recorder's own stream, which the sink then does not get.
	enum class Written : std::uint8_t { all, own, nothing };
	// Offers every block to the sink, too. `names`: of existing streams. Call before start() and drain_now().
	void set_sink(BlockSink &sink, std::vector<std::string> names, Written written);

	// Called in the drain thread with each clock snapshot, before it is written.
	void set_before_sync(std::function<void(const Sync &)> call) { before_sync_ = std::move(call); }

	// Called with each block of the kernel card's rings, in the drain thread or that of drain_rest().
	void set_on_kernel_block(std::function<void(const std::byte *)> call) { on_kernel_block_ = std::move(call); }

	// Called in the drain thread with a clock snapshot at this interval; first at `first`, if given.
	void set_periodic_call(std::chrono::nanoseconds interval, std::function<void(const Sync &)> call,
			       std::optional<std::chrono::steady_clock::time_point> first = {});

	// Take what is closed now. Only while the thread does not run.
	void drain_now();

	// After the probes are detached: closed blocks, open ones, and an empty block that reports the last losses.
	// `at_end` is called before the control stream ends, `finish_sink` when the sink has got everything.
	void drain_rest(const std::function<void()> &at_end = {}, const std::function<void()> &finish_sink = {});

	// A finished block of one of the recorder's own streams: for the writer, for the sink, or both. Never lost: it
	// is kept until the pool has a free block.
	void push_own(StreamNumber stream, const std::byte *block, bool to_writer, bool to_sink);
	void push_control(const std::byte *block)
	{
		push_own(0, block, written_ != Written::nothing, sink_ && written_ != Written::own);
	}
	// Without a sink: nothing is written at all.
	void write_nothing() { written_ = Written::nothing; }
	// The stream that the sink gets as the recorder's: its open block is shown to it.
	void set_shown(const ControlStream &stream) { shown_ = &stream; }

	// Take a clock snapshot, write it to the control stream and steer.
	void sync();

	// The fullest any ring was at a pass, in thousandths.
	unsigned worst_fill() const { return worst_fill_.load(std::memory_order_relaxed); }

private:
	using Clock = std::chrono::steady_clock;

	void run();
	void wake() const { ::eventfd_write(wakeup_.get(), 1); }
	std::uint32_t wait_for_work(Clock::time_point next_look);
	std::uint32_t wait_until_due();
	static constexpr std::uint64_t no_time = ~std::uint64_t(0);
	void end_pass(unsigned fill, bool is_last = false, std::uint64_t latest = no_time);
	bool half_full() const;
	void push_pending();
	bool push(StreamNumber stream, const std::byte *block, std::uint32_t reserved = 0);
	bool deliver(StreamNumber stream, const std::byte *block, std::uint32_t reserved = 0);
	bool offer(StreamNumber stream, const std::byte *block);
	StreamNumber make_stream(const std::string &name);
	unsigned drain_all(bool last = false);
	bool kernel_blocks_left() const;
	unsigned drain_ring(unsigned cpu, unsigned level);
	void drain_open_block(unsigned cpu, unsigned level);
	void push_or_wait(StreamNumber stream, const std::byte *block);
	bool take_closed(unsigned cpu, unsigned level, std::uint64_t closed);
	std::uint64_t time_without_probes() const;
	bool show_open_block(unsigned cpu, unsigned level);
	bool show_control();
	std::uint64_t own_complete_until();
	void advance_sink();
	void finish_sink(const std::function<void()> &finish);

	card::CardMemory *card_;
	card::UserCard *users_;
	Writer *writer_ = nullptr;
	card::UserCard::Push push_user_, show_user_; // show_user_: with a sink only
	std::function<void(const Sync &)> before_sync_, periodic_call_;
	std::chrono::nanoseconds interval_{0}; // of the periodic call
	std::function<void(const std::byte *)> on_kernel_block_;
	std::optional<Clock::time_point> first_call_;
	buffering::DrainPace pace_{Clock::now()};
	Clock::time_point next_call_ = Clock::time_point::max();
	BlockPool &pool_;
	ControlStream &control_;
	PassLog log_;
	ClockSteering &steering_;
	Failure &failure_;
	struct OwnBlock {
		StreamNumber stream;
		bool to_writer, to_sink;
		std::array<std::byte, EDC_BLOCK_SIZE> block;
	};
	std::deque<OwnBlock> pending_;
	// What was offered of a stream.
	struct Offered {
		std::uint64_t end_time = 0, discarded = 0; // of the newest block
		std::uint64_t position = 0;                // in its ring
	};
	BlockSink *sink_ = nullptr;
	Written written_ = Written::all;
	const ControlStream *shown_ = nullptr;
	std::vector<std::string> names_;    // of streams; these members are used with a sink only
	std::vector<Offered> offered_;      // by stream
	std::uint64_t complete_before_ = 0; // older events were offered in this pass
	std::uint64_t horizon_ = 0;         // older events were offered
	bool is_behind_ = false;            // the sink has more to do
	std::atomic<unsigned> worst_fill_{0};
	Fd wakeup_;            // an eventfd: to stop, or to drain at once
	bool stalled_ = false; // the last pass left a kernel block in its ring: pool empty
	std::atomic<bool> stopping_{false};
	std::thread thread_;
};

} // namespace monitor::record
