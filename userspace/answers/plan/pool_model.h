// SPDX-License-Identifier: MIT
// The pool of blocks between drain thread and writer (recording/rings/blocks.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/buffering/pool_rules.h"

namespace monitor::plan {

// Blocks of one ring, in order.
struct PooledBlocks {
	std::uint32_t ring = 0, blocks = 0;
};

class PoolModel {
public:
	explicit PoolModel(std::uint32_t blocks) : blocks_(blocks), free_(blocks) {}

	std::uint32_t blocks() const { return blocks_; }
	std::uint32_t free_blocks() const { return free_; }
	// Takes free blocks; returns how many of them were never used before.
	std::uint32_t reserve(std::uint32_t blocks)
	{
		free_ -= blocks;
		const std::uint32_t fresh = std::max(blocks_ - free_, most_used_) - most_used_;
		most_used_ += fresh;
		return fresh;
	}
	// Queues blocks for the writer. True: wake it.
	bool queue(PooledBlocks added)
	{
		if (!queue_.empty() && queue_.back().ring == added.ring)
			queue_.back().blocks += added.blocks;
		else
			queue_.push_back(added);
		queued_ += added.blocks;
		return queued_ >= buffering::blocks_of_a_wakeup(blocks_);
	}
	std::uint32_t queued() const { return queued_; }
	void note_wakeup() { queued_ = 0; }

	// The writer's next batch: a write for each ring.
	std::vector<PooledBlocks> next_writes()
	{
		std::vector<PooledBlocks> writes;
		for (std::uint32_t left = buffering::max_blocks_in_a_write; left && !queue_.empty();) {
			PooledBlocks &first = queue_.front();
			const std::uint32_t blocks = std::min(first.blocks, left);
			const auto same = std::ranges::find(writes, first.ring, &PooledBlocks::ring);
			if (same != writes.end())
				same->blocks += blocks;
			else
				writes.push_back({first.ring, blocks});
			left -= blocks;
			if ((first.blocks -= blocks) == 0)
				queue_.pop_front();
		}
		return writes;
	}
	void release(std::uint32_t blocks) { free_ += blocks; }

private:
	std::uint32_t blocks_, free_;
	std::uint32_t most_used_ = 0; // at once so far
	std::uint32_t queued_ = 0;    // since the writer was woken
	std::deque<PooledBlocks> queue_;
};

} // namespace monitor::plan
