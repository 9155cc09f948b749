// SPDX-License-Identifier: MIT
// The running threads and their names at some moments of the trace: a scan may start there.
// Scans that need threads (event_scan.h) save states as they pass; a later scan that seeks starts with the last state
// before its time instead of at the start of the trace. Bounded: when there are too many, every second one is dropped.
// Invariant: a state includes all items before its time, and none at it or after it.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/events/threads.h"

namespace monitor::query {

class Checkpoints {
public:
	static constexpr std::uint64_t usual_spacing = 16384; // events

	explicit Checkpoints(std::uint64_t spacing) : spacing_(spacing) {}

	struct State {
		std::uint64_t time;
		trace::Threads threads;
	};

	// The last state at or before this time, or nullptr. Valid until the next add().
	const State *before(std::uint64_t time) const;

	// Whether to save the state of a scan this many events after its start or its last add().
	bool is_due(std::uint64_t events, std::uint64_t time) const
	{
		return events >= spacing_ && (states_.empty() || time > states_.back().time);
	}
	void add(std::uint64_t time, const trace::Threads &threads);

private:
	static constexpr std::size_t max_bytes = 32u << 20;

	std::vector<State> states_; // by time
	std::uint64_t spacing_;     // doubled when there are too many
	std::size_t bytes_ = 0;
};

} // namespace monitor::query
