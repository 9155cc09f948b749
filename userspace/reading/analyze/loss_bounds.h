// SPDX-License-Identifier: MIT
// Until when a fold (thread_fold.h) may lack tokens: those of one CPU, which say what ran there; those of any CPU, on
// which a thread may have run unseen; and those of programs. A gap whose end is not known yet is open until
// gap_ended().
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "thread.h"

namespace monitor::analyze {

class LossBounds {
public:
	static constexpr std::uint64_t open_end = ~std::uint64_t(0);

	// A gap in a CPU's stream; lose() then makes unknown what depends on it.
	void gap(std::uint64_t to)
	{
		lossy_until_ = std::max(lossy_until_, to);
		++gaps_;
	}
	void gap_ended(Cpu &lost, std::uint64_t to, const std::vector<Cpu> &cpus)
	{
		lost.known_gap_until = std::max(lost.known_gap_until, to);
		lost.open_gaps -= lost.open_gaps > 0;
		if (lost.open_gaps == 0)
			lost.gap_until = lost.known_gap_until;
		if (lossy_until_ != open_end)
			return;
		lossy_until_ = 0;
		for (const Cpu &each : cpus)
			lossy_until_ = std::max(lossy_until_, each.gap_until);
		unseen_until_ = std::min(unseen_until_, lossy_until_);
	}
	// `only_this_cpu`: only this CPU lacks tokens, so a thread that is on no CPU may run on it unseen.
	void lose(Cpu &lost, std::uint64_t to, bool only_this_cpu)
	{
		if (to == open_end)
			++lost.open_gaps;
		else
			lost.known_gap_until = std::max(lost.known_gap_until, to);
		lost.gap_until = std::max(lost.gap_until, to);
		if (only_this_cpu)
			unseen_until_ = std::max(unseen_until_, to);
	}
	void user_gap(std::uint64_t to)
	{
		if (to == open_end)
			++open_user_gaps_;
		else
			user_lossy_until_ = std::max(user_lossy_until_, to);
	}
	void user_gap_ended(std::uint64_t to)
	{
		user_lossy_until_ = std::max(user_lossy_until_, to);
		open_user_gaps_ -= open_user_gaps_ > 0;
	}
	// Tokens were lost in a period of statistics.
	void lossy_period(std::uint64_t to) { lossy_until_ = to; }

	std::uint64_t gaps() const { return gaps_; }
	std::uint64_t lossy_until() const
	{
		return open_user_gaps_ ? open_end : std::max(lossy_until_, user_lossy_until_);
	}
	bool may_run_unseen(std::uint64_t time) const { return time < unseen_until_; }

private:
	std::uint64_t gaps_ = 0, lossy_until_ = 0;
	std::uint64_t unseen_until_ = 0;                          // the last gap of any CPU
	std::uint64_t user_lossy_until_ = 0, open_user_gaps_ = 0; // of programs' streams
};

} // namespace monitor::analyze
