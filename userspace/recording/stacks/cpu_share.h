// SPDX-License-Identifier: MIT
// Bounds the share of a CPU that a thread uses: it spends a credit, which grows with time, and pauses when that is used
// up. For stack_recorder.cpp, whose work others can cause.
#pragma once

#include <algorithm>
#include <chrono>

namespace monitor::stacks {

class CpuShare {
public:
	using Duration = std::chrono::nanoseconds;
	static constexpr int percent = 10;                              // of one CPU
	static constexpr Duration max_credit = std::chrono::seconds(2); // of CPU time, at first and after rests

	// `now` by any steady clock, `used` CPU time of the thread; both only grow. Returns how long to pause.
	Duration pause_at(Duration now, Duration used)
	{
		credit_ = std::min(credit_ + (now - now_) / 100 * percent, max_credit) - (used - used_);
		now_ = now;
		used_ = used;
		return credit_ < Duration(0) ? -credit_ * 100 / percent : Duration(0);
	}

private:
	Duration credit_ = max_credit, now_{0}, used_{0};
};

} // namespace monitor::stacks
