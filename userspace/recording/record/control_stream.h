// SPDX-License-Identifier: MIT
// The recorder's own stream: clock snapshots, clock sets, states and counts of threads, in the same blocks as the
// rings. Filled by the thread that has the data (first recording.cpp, then the drain thread, then recording.cpp again).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "clock.h"
#include "event_times.h"
#include "monitor/card.h"
#include "recording/stacks/stack_recorder.h"

namespace monitor::record {

class ControlStream {
public:
	using Sink = std::function<void(const std::byte *block)>;

	// `sink` receives every finished block.
	ControlStream(const std::array<std::uint8_t, 16> &uuid, Sink sink);

	void sync(const Sync &sync);
	// The clock sets published since the last call, then this snapshot.
	void sync(ClockSteering &steering, const Sync &sync);
	void thread_state(const edc_task &task, bool at_end);
	void thread_counts(const edc_task &task, bool at_end);
	// The total of a --count so far.
	void count(std::size_t number, std::uint64_t total, std::uint64_t time);
	// The result of a --time so far.
	void timed(std::size_t number, const EventTime &result, std::uint64_t time);
	// `now`: when it is written; `time`: when it happened.
	void mapping(const stacks::MappingChange &change, std::uint64_t now, std::uint64_t time);

	// Pass the open block to the sink.
	void flush();
	std::uint64_t tokens() const { return tokens_; }

private:
	void post(std::uint32_t id, std::uint64_t time, std::uint32_t arg, std::span<const std::uint64_t> words);
	void clock_set(std::uint64_t number, const edc_clock_set &set, std::uint64_t time);
	void open(std::uint64_t time);

	std::array<std::uint8_t, 16> uuid_;
	Sink sink_;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block_{};
	std::size_t pos_ = 0; // 0: no block is open
	std::uint64_t begin_ = 0, last_ = 0, sequence_ = 0, tokens_ = 0;
};

} // namespace monitor::record
