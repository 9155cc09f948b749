// SPDX-License-Identifier: MIT
// A sparse index of a whole trace: how many events precede given times.
//
// Made by Core::index() in one merge of all events; a cursor seeks to the time of a checkpoint and moves on from there.
// Const once made. Invariants: every item before a checkpoint in the merged order has an earlier time; there are at
// most max_checkpoints, however long the trace.
#pragma once

#include <cstdint>
#include <vector>

namespace monitor::trace {
class Problems;
class Trace;
} // namespace monitor::trace

namespace poet::detail {

class Index {
public:
	struct Checkpoint {
		std::uint64_t time = 0;
		std::uint64_t events = 0; // before it
	};

	// Reads the trace; adds the problems found to `problems`.
	void make(const monitor::trace::Trace &trace, monitor::trace::Problems &problems);

	std::uint64_t events() const { return events_; }
	// The last checkpoint with at most this many events before it, or at most this time. The first is at time 0.
	const Checkpoint &before_event(std::uint64_t number) const;
	const Checkpoint &before_time(std::uint64_t time) const;

private:
	static constexpr std::size_t max_checkpoints = 1u << 18; // 4 MiB
	static constexpr std::uint64_t min_spacing = 4096;

	void add(std::uint64_t time, std::uint64_t events);

	std::vector<Checkpoint> checkpoints_;
	std::uint64_t spacing_ = min_spacing;
	std::uint64_t events_ = 0;
};

} // namespace poet::detail
