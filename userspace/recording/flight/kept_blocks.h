// SPDX-License-Identifier: MIT
// The newest blocks of streams without overwriting rings (the recorder's own and the programs'), in bounded memory.
// Only the flight recorder's thread touches them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>

#include "base/block_words.h"
#include "recording/rings/blocks.h"

namespace monitor::record {

class KeptBlocks {
public:
	explicit KeptBlocks(std::uint64_t max_bytes) : max_blocks_(max_bytes / EDC_BLOCK_SIZE) {}

	// Drops the oldest blocks if there is no room.
	void keep(StreamNumber stream, const std::byte *block)
	{
		if (blocks_.size() >= max_blocks_) {
			overwritten_until_ =
			    std::max<std::uint64_t>(overwritten_until_, blocks_.front().header().timestamp_end);
			blocks_.pop_front();
			++overwritten_;
		}
		Kept &kept = blocks_.emplace_back();
		kept.number = ++kept_;
		kept.stream = stream;
		std::memcpy(kept.bytes.data(), block, EDC_BLOCK_SIZE);
	}

	// Drops blocks that ended before this time.
	void forget_before(std::uint64_t time)
	{
		while (!blocks_.empty() && blocks_.front().header().timestamp_end < time)
			blocks_.pop_front();
	}

	// How many were kept so far.
	std::uint64_t number() const { return kept_; }
	// Calls visit(stream, block), oldest first, for blocks that ended at this time or later, among the first
	// `number` ever kept.
	template <class Visit> void visit_from(std::uint64_t time, std::uint64_t number, Visit &&visit) const
	{
		for (const Kept &kept : blocks_)
			if (kept.number <= number && kept.header().timestamp_end >= time)
				visit(kept.stream, kept.bytes.data());
	}

	std::uint64_t overwritten() const { return overwritten_; }             // blocks, for lack of room
	std::uint64_t overwritten_until() const { return overwritten_until_; } // end time of the latest dropped block

private:
	struct Kept {
		std::uint64_t number = 0;
		StreamNumber stream = 0;
		alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> bytes;

		edc_block header() const { return header_of(bytes.data()); }
	};

	std::uint64_t max_blocks_, kept_ = 0, overwritten_ = 0, overwritten_until_ = 0;
	std::deque<Kept> blocks_;
};

} // namespace monitor::record
