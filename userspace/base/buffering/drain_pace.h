// SPDX-License-Identifier: MIT
// When the drain thread polls the rings, and when it wakes the writer for blocks that have waited. Only the policy,
// shared by the recorder (recording/rings/drain.cpp) and its simulation (answers/plan).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "monitor/card.h"

namespace monitor::buffering {

// How full a ring is, in thousandths, rounded up.
constexpr unsigned fill_of(std::uint64_t waiting, std::uint64_t blocks)
{
	return static_cast<unsigned>((waiting * 1000 + blocks - 1) / blocks);
}

// The same as input to the pace. Small rings (of deeper levels, and of all slots but the first) are easily full of one
// or two blocks: of these it says only whether anything waits.
constexpr unsigned fill_for_pace(unsigned fill, unsigned level)
{
	return level == 0 || level == EDC_CARD_LEVELS ? fill : std::min(fill, 1u);
}

// A ring wakes the drain thread when this many of its blocks wait.
constexpr std::uint64_t half_of(std::uint64_t blocks)
{
	return blocks / 2;
}

// Limits of what one pass takes from programs, so that the kernel's rings are drained again soon.
constexpr std::uint64_t max_blocks_of_process = 2048, max_blocks_of_pass = 8192;

class DrainPace {
public:
	using Time = std::chrono::steady_clock::time_point;
	using Duration = Time::duration;

	explicit DrainPace(Time now) : last_look_(now), next_sync_(now + sync_interval), last_write_(now) {}

	// When the next pass starts, `longest_wait` after the last one at the latest, if nothing requests it earlier.
	Time next_look(Duration longest_wait = Duration::max()) const
	{
		return std::min(next_sync_, last_look_ + std::min(look_interval_, longest_wait));
	}
	// When it may start if it is requested.
	Time earliest_look() const { return last_look_ + min_look_interval; }

	// A pass starts.
	void look(Time now) { last_look_ = now; }
	Time last_look() const { return last_look_; }
	// The fullest ring it found.
	void found(unsigned fill)
	{
		fill_ = fill;
		if (fill >= fast_above)
			look_interval_ = fast_look;
		else if (fill < slow_below)
			look_interval_ = slow_look;
	}
	Time next_sync() const { return next_sync_; }
	bool sync_is_due(Time now) const { return now >= next_sync_; }
	void synced(Time now) { next_sync_ = std::max(next_sync_ + sync_interval, now + sync_interval / 2); }
	// Whether the end of a pass wakes the writer, which has not been notified of `given` blocks.
	bool wakes_writer(std::uint32_t given)
	{
		const bool wakes = given && last_look_ >= last_write_ + (fill_ >= slow_below ? fast_write : slow_write);
		if (wakes || !given)
			last_write_ = last_look_;
		return wakes;
	}

private:
	static constexpr std::chrono::milliseconds sync_interval{100}, slow_look{100}, fast_look{20};
	static constexpr std::chrono::milliseconds min_look_interval{
	    2}; // from one pass to the next, whatever requests it
	static constexpr std::chrono::milliseconds slow_write{500}, fast_write{100}; // blocks wait this long for others
	static constexpr unsigned fast_above = 60, slow_below = 8;                   // thousandths of a ring

	Time last_look_, next_sync_, last_write_;
	Duration look_interval_ = fast_look;
	unsigned fill_ = 0;
};

} // namespace monitor::buffering
