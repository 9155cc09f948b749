// SPDX-License-Identifier: MIT
// A ring of include/monitor/ring.h, block by block: what is posted while no block is free is lost. Amounts are in
// words.
//
// `work`, the CPU time of the load of the ring's CPU so far, is the time here: if the ring was full for a part of a
// block's time, that part of the block is lost. A ring without blocks, for which there was no memory, loses all.
// Invariant: posted = stored + lost.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/buffering/drain_pace.h"

namespace monitor::plan {

class RingModel {
public:
	explicit RingModel(std::uint64_t blocks) : blocks_(blocks) {}

	// Posts `words`, a block as recorded, since the last post(). True: from now on half of the ring's blocks wait.
	bool post(double words, double work)
	{
		if (is_full())
			lose_until(work);
		const double span = work - posted_until_;
		const double share = span > 0 ? std::min(lost_work_ / span, 1.) : is_full();
		posted_until_ = full_since_ = work;
		lost_work_ = 0;
		lost_ += words * share;
		stored_ += words * (1 - share);
		fill_ += 1 - share;
		if (fill_ < whole)
			return false;
		fill_ = std::max(fill_ - 1, 0.);
		++closed_;
		return waiting() == buffering::half_of(blocks_);
	}

	// The reader has copied blocks, which are free now.
	void release(std::uint64_t blocks, double work)
	{
		if (is_full())
			lose_until(work);
		read_ += blocks;
	}

	std::uint64_t waiting() const { return closed_ - read_; }
	bool is_full() const { return waiting() >= blocks_; }
	bool is_half_full() const { return blocks_ > 0 && waiting() >= buffering::half_of(blocks_); }
	unsigned fill() const { return blocks_ > 0 ? buffering::fill_of(waiting(), blocks_) : 0; }
	double lost() const { return lost_; }
	double stored() const { return stored_; }

private:
	static constexpr double whole = 1 - 1e-9; // of a block

	void lose_until(double work)
	{
		lost_work_ += work - full_since_;
		full_since_ = work;
	}

	std::uint64_t blocks_, closed_ = 0, read_ = 0;
	double fill_ = 0;         // of the open block
	double posted_until_ = 0; // work at the last post()
	double full_since_ = 0, lost_work_ = 0;
	double lost_ = 0, stored_ = 0;
};

} // namespace monitor::plan
