// SPDX-License-Identifier: MIT
// The second buffer stage (as in ZM4): a fixed pool of closed blocks between the drain thread and the writer thread, so
// that the disk may stall for a while without loss. Ownership of a block passes drain -> writer -> drain through two
// single-producer single-consumer queues; neither thread waits for a lock, and a full pool leaves blocks in the ring.
// The writer is woken for as many blocks as one write takes, or when some have waited long enough (drain_pace.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <boost/lockfree/spsc_queue.hpp>

#include "base/buffering/pool_rules.h"
#include "base/fd.h"
#include "base/wakeup.h"
#include "monitor/ring.h"

namespace monitor::record {

// Number of a stream file of the trace: stream_instance_id for the rings' streams, 0 for the recorder's own.
using StreamNumber = std::uint32_t;

// What is loaded after it is at least as new as what was loaded before, and what was stored before can be seen then.
// x86 needs an instruction for the latter only; elsewhere the kernel makes every CPU pass a barrier. False: it refused.
bool order_memory();

using buffering::max_blocks_in_a_write;

// The calling thread gets a CPU before other programs do, where that is permitted (recorder/user.h): it has little to
// do, and what it leaves undone fills the rings.
void run_promptly();

// A write of blocks to a stream's file.
struct BlockWrite {
	std::uint64_t start = 0; // trace clock, ticks
	std::uint64_t wall_ns = 0;
	std::uint64_t cpu_ns = 0; // of the writer thread, since the write before
	StreamNumber stream = 0;
	std::uint32_t blocks = 0; // that are in the file
	int error = 0;            // errno, if others are not
};

struct PooledBlock {
	std::uint32_t index = 0;
	StreamNumber stream = 0;
};

class BlockPool {
public:
	explicit BlockPool(std::uint32_t blocks);

	std::byte *at(std::uint32_t index) const { return memory_.data() + std::size_t{index} * EDC_BLOCK_SIZE; }

	std::uint32_t blocks() const { return static_cast<std::uint32_t>(memory_.size() / EDC_BLOCK_SIZE); }

	// Drain thread: takes a free block, the last one returned first (it is still in the cache); false if no more
	// than `left_over` are free.
	bool take(std::uint32_t &index, std::uint32_t left_over = 0);
	// Drain thread: what blocks came back with since the last call; afterwards all that came back are free.
	std::vector<BlockWrite> take_writes();
	std::uint32_t free_blocks() const { return static_cast<std::uint32_t>(free_.size()); }
	void give(PooledBlock block)
	{
		closed_.push(block);
		if (++given_ >= buffering::blocks_of_a_wakeup(blocks()))
			wake();
	}
	void wake()
	{
		given_ = 0;
		work_.wake();
	}
	// Blocks of which the writer does not know.
	std::uint32_t given() const { return given_; }

	// Writer thread.
	void wait() { work_.wait(); }
	bool next(PooledBlock &block) { return closed_.pop(block); }
	void give_back(std::uint32_t index) { returned_.push({index, false}); }
	// The block carries what its write took: there is always space for it, and neither thread waits.
	void give_back(std::uint32_t index, const BlockWrite &write)
	{
		std::memcpy(at(index), &write, sizeof write);
		returned_.push({index, true});
	}

private:
	struct ReturnedBlock {
		std::uint32_t index = 0;
		bool carries_write = false;
	};

	void take_returned();

	Mapping memory_;
	boost::lockfree::spsc_queue<PooledBlock> closed_;
	boost::lockfree::spsc_queue<ReturnedBlock> returned_;
	std::vector<std::uint32_t> free_;
	std::vector<BlockWrite> writes_; // that came back
	std::uint32_t given_ = 0;        // since the last wake()
	Wakeup work_;
};

} // namespace monitor::record
