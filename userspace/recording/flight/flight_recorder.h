// SPDX-License-Identifier: MIT
// The thread of a flight recorder (record --flight), instead of drain.cpp. Between snapshots it reads the clocks and
// keeps the newest blocks of programs and of the recorder in memory. For a snapshot it copies the held rings
// (flight_rings.h), releases them, and passes all blocks to the snapshot.
//
// begin() and is_read() are called in the main thread (flight.cpp), all else in the thread of this class.
// Next in the flow: snapshot.cpp, and the writer thread of the snapshot.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/fd.h"
#include "flight_rings.h"
#include "kept_blocks.h"
#include "recording/rings/clock.h"
#include "recording/rings/control_stream.h"
#include "recording/rings/failure.h"
#include "recording/triggers/triggers.h"
#include "recording/user_card/user_card.h"
#include "snapshot.h"

namespace monitor::record {

class FlightRecorder {
public:
	// `kernel_streams`: number of streams with fixed numbers. `kept_bytes`: memory for blocks of programs. Throws
	// Error.
	FlightRecorder(card::CardMemory &card, card::UserCard *users, ClockSteering &steering, Failure &failure,
		       const Uuid &uuid, std::size_t kernel_streams, std::uint64_t kept_bytes,
		       const card::PayloadWords &words, Triggers *triggers);
	~FlightRecorder() { stop(); }

	void start(std::uint64_t begin_time);
	void stop();
	// Reads what programs have posted and evaluates triggers for it before it returns.
	void poll_programs();

	// Holds the rings at once. Not before the previous snapshot was read.
	void hold();
	// Starts to read the held rings into the snapshot.
	void begin(Snapshot &snapshot);
	// All threads, listed after begin().
	void give_threads(std::vector<edc_task> threads);
	// Ends the current snapshot now.
	void cut_short();
	// Whether the snapshot has been read completely; fd() becomes readable then.
	bool is_read();
	int fd() const { return read_.get(); }
	// Triggers may hold the rings from now on, until the next hold. Not while a snapshot is read.
	void arm() { rings_.arm(); }
	// Whether a trigger holds them.
	bool is_held() const { return rings_.is_held(); }
	// Releases the rings without a snapshot.
	void release() { rings_.release(); }

	// The recorder's own stream; only while the thread does not run.
	ControlStream &control() { return control_; }
	void sync();

private:
	using Clock = std::chrono::steady_clock;
	// Of a snapshot: reads the held rings until its end, then the rest of them, waits for the list of threads, and
	// passes on the blocks of all other streams.
	enum class Phase { idle, held, rest, threads, others };
	struct OtherBlock { // of a stream that has no ring of the kernel
		StreamNumber stream;
		bool is_user;
		std::array<std::byte, EDC_BLOCK_SIZE> bytes;
	};

	void run();
	void wait(Clock::time_point next_sync);
	void drain_users(const card::UserCard::Push &show);
	void forget_old_blocks();
	bool step();
	void end_hold();
	void collect_blocks();
	void add_threads(ControlStream &to, std::uint64_t time) const;
	void repeat_own_tokens(ControlStream &to, std::uint64_t from) const;
	void add_block(std::vector<OtherBlock> &to, StreamNumber stream, const std::byte *block, bool is_user) const;
	void renumber_blocks();

	card::CardMemory &card_;
	card::UserCard *users_;
	ClockSteering &steering_;
	Failure &failure_;
	Uuid uuid_;
	std::size_t kernel_streams_;
	const card::PayloadWords &words_;
	const double ticks_in_ns_;
	Triggers *const triggers_; // null: there are none
	std::uint64_t begin_time_ = 0;
	KeptBlocks own_blocks_, program_blocks_;
	ControlStream control_;
	FlightRings rings_;
	std::vector<std::string> user_streams_;                        // names
	std::deque<std::pair<std::uint64_t, std::uint64_t>> cpu_time_; // of the recorder, by trace time

	std::atomic<Phase> phase_{Phase::idle};
	Snapshot *snapshot_ = nullptr;
	Clock::time_point held_at_;
	std::mutex lock_; // of:
	std::vector<edc_task> threads_;
	bool has_threads_ = false;
	// The thread's:
	std::vector<OtherBlock> shown_, to_write_; // shown_: of programs, still open
	std::size_t written_ = 0;
	std::uint64_t kept_at_end_ = 0; // blocks of programs

	Fd wakeup_, read_;
	std::atomic<bool> stopping_{false}, is_cut_short_{false};
	std::atomic<unsigned> drains_requested_{0}, drains_done_{0};
	std::thread thread_;
};

} // namespace monitor::record
