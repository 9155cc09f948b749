// SPDX-License-Identifier: MIT
// Who ran where and what threads are called, at some moments of the trace: from there on a scan may begin.
//
// Scans that need to know the threads (event_scan.h) leave states behind as they pass; a later one that seeks begins
// with the last state before its time instead of at the begin of the trace. Bounded: when there are too many, every
// second one goes. Invariant: a state knows all items before its time and none at it or behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/threads.h"

namespace monitor::query {

class Checkpoints {
public:
	static constexpr std::uint64_t usual_spacing = 16384; // events

	explicit Checkpoints(std::uint64_t spacing) : spacing_(spacing) {}

	struct State {
		std::uint64_t time;
		trace::Threads threads;
	};

	// The last one at or before this time, or nullptr. Valid until the next offer().
	const State *before(std::uint64_t time) const;

	// Whether a scan that read so many events since it began, or since its last offer, may leave its state here.
	bool wants(std::uint64_t events, std::uint64_t time) const
	{
		return events >= spacing_ && (states_.empty() || time > states_.back().time);
	}
	void offer(std::uint64_t time, const trace::Threads &threads);

private:
	static constexpr std::size_t most_bytes = 32u << 20;

	std::vector<State> states_; // by time
	std::uint64_t spacing_;     // doubled when there are too many
	std::size_t bytes_ = 0;
};

} // namespace monitor::query
