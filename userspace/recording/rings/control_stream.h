// SPDX-License-Identifier: MIT
// The recorder's own stream: clock snapshots, clock sets, states and counts of threads, in the same blocks as the
// rings. Filled by the thread that has the data (first the main thread, then the drain thread, then the main thread
// again).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/recording_file/event_counts.h"
#include "blocks.h"
#include "clock.h"
#include "monitor/card.h"
#include "recording/stacks/stack_recorder.h"

namespace monitor::record {

// A CPU, a thread, or the machine, whose states are recorded.
struct StateSubject {
	std::uint32_t number = 0;
	std::uint32_t cpu = 0;
	std::int32_t tid = 0, process = 0;
	std::uint64_t cgroup = 0, cpu_ticks = 0; // cpu_ticks: a thread's CPU time so far
	std::string_view name;
	bool in_command = false; // the recorded command or a descendant
};

// A pass of the drain thread, since its wake-up.
struct DrainPass {
	std::uint32_t why = EDC_PASS_POLL;
	std::uint64_t start = 0;        // trace clock, ticks
	std::uint64_t cpu_ns = 0;       // of the thread, since the end of the previous pass
	std::uint32_t blocks = 0;       // copied from rings
	std::uint32_t free_blocks = 0;  // of the pool, afterwards
	std::uint32_t fullest = 0;      // fill of the fullest ring, in thousandths
	bool stalled = false;           // blocks stayed in their ring: pool empty
	std::uint32_t empty_passes = 0; // since the last one that copied blocks
	std::uint64_t empty_cpu_ns = 0; // of these
};

class ControlStream {
public:
	using Sink = std::function<void(const std::byte *block)>;

	// `sink` receives every finished block. `number`: of the stream.
	ControlStream(const Uuid &uuid, Sink sink, std::uint32_t number = 0)
	    : uuid_(uuid), sink_(std::move(sink)), number_(number)
	{
	}

	void sync(const Sync &sync);
	// The clock sets published since the last call, then this snapshot.
	void sync(ClockSteering &steering, const Sync &sync);
	void thread_state(const edc_task &task, bool at_end);
	void thread_counts(const edc_task &task, bool at_end);
	// A firing without an event; times in ticks.
	void fired(std::size_t trigger, std::int32_t tid, std::uint64_t began, std::uint64_t key, std::uint64_t time);
	// A firing by an event of a program; `time`: when noticed.
	void fired_by_program(std::size_t trigger, const edc_firing &noted, std::uint64_t time);
	// A pause that no probe ended; times and duration in ticks.
	void paused(std::uint64_t since, std::uint64_t duration, std::uint64_t time);
	// This CPU is offline until its next token.
	void cpu_offline(std::uint32_t cpu, std::uint64_t time);
	// A pass of the drain thread, which ends at `time`; a write of the writer thread, which has ended by then.
	void drain_pass(const DrainPass &pass, std::uint64_t time);
	void block_write(const BlockWrite &write, std::uint64_t time);
	// The total of a --count so far.
	void count(std::size_t number, std::uint64_t total, std::uint64_t time);
	// The result of a --time so far.
	void timed(std::size_t number, const recording_file::EventTime &result, std::uint64_t time);
	// A subject of record --states, and its next run length: `time` is when it is written.
	void state_subject(const StateSubject &subject, std::uint64_t time);
	void state_run(std::uint32_t subject, std::uint32_t state, std::uint64_t ticks, std::uint64_t time);
	// `now`: when it is written; `time`: when it happened.
	void mapping(const stacks::MappingChange &change, std::uint64_t now, std::uint64_t time);

	// Copies a record of another block.
	void repeat(std::uint64_t token, std::span<const std::uint64_t> words, std::uint64_t time);

	// Pass the open block to the sink.
	void flush();
	// Pass a copy of the open block, closed there, to another sink.
	void show(const Sink &sink) const;
	std::uint64_t tokens() const { return tokens_; }

private:
	void post(std::uint32_t id, std::uint64_t time, std::uint32_t arg, std::span<const std::uint64_t> words);
	void clock_set(std::uint64_t number, const edc_clock_set &set, std::uint64_t time);
	void open(std::uint64_t time);

	Uuid uuid_;
	Sink sink_;
	std::uint32_t number_;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block_{};
	std::size_t pos_ = 0; // 0: no block is open
	std::uint64_t begin_ = 0, last_ = 0, sequence_ = 0, tokens_ = 0;
};

} // namespace monitor::record
