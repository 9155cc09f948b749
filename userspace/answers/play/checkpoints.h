// SPDX-License-Identifier: MIT
// Copies of the fold at some moments of a trace, which player.cpp makes as it passes: to go back, it continues from the
// last one before a time instead of from the start. Bounded: when there are too many, every second one is dropped.
// Invariant: a checkpoint includes all events and gaps before its time, and none at it or after it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "placement.h"
#include "reading/analyze/thread_fold.h"
#include "recent.h"

namespace monitor::play {

struct Checkpoint {
	std::uint64_t time = 0;
	std::unique_ptr<const analyze::ThreadFold> fold; // without observers
	Placement placement;
	Recent recent;
};

class Checkpoints {
public:
	static constexpr std::size_t max_bytes = 256u << 20, max_count = 64;

	explicit Checkpoints(std::uint64_t spacing_events) : spacing_(spacing_events) {}

	// Whether to make a checkpoint of a fold at this time, this many events after the last checkpoint.
	bool is_due(std::uint64_t events, std::uint64_t time) const
	{
		return events >= spacing_ && (kept_.empty() || time > kept_.back().time);
	}
	void add(std::uint64_t time, const analyze::ThreadFold &fold, const Placement &placement, const Recent &recent);

	// The last checkpoint at or before this time; null: none. Valid until the next add().
	const Checkpoint *before(std::uint64_t time) const;

private:
	std::vector<Checkpoint> kept_; // by time
	std::uint64_t spacing_;        // doubled when there are too many
	std::size_t bytes_ = 0;
};

} // namespace monitor::play
