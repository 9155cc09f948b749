// SPDX-License-Identifier: MIT
// The second buffer stage (as in ZM4): a fixed pool of closed blocks between the drain thread and the writer thread, so
// that the disk may stall for a while without loss. Ownership of a block passes drain -> writer -> drain through two
// single-producer single-consumer queues; neither thread waits for a lock, and a full pool leaves blocks in the ring.
// The writer is woken for as many blocks as one write takes, or when some have waited long enough (drain_pace.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <boost/lockfree/spsc_queue.hpp>

#include "base/buffering/pool_rules.h"
#include "base/fd.h"
#include "base/wakeup.h"
#include "monitor/ring.h"

namespace monitor::record {

// Number of a stream file of the trace: stream_instance_id for the rings' streams, 0 for the recorder's own.
using StreamNumber = std::uint32_t;

// A memory barrier paired with probes: loads are ordered, and earlier stores visible before later loads. A fence on
// x86, else membarrier(2) on all CPUs. False: refused by the kernel.
bool order_memory();

using buffering::max_blocks_in_a_write;

// Raises the calling thread's priority, if permitted (recorder/user.h): a delayed drain or writer fills the rings.
void run_promptly();

// A write of blocks to a stream's file.
struct BlockWrite {
	std::uint64_t start = 0; // trace clock, ticks
	std::uint64_t wall_ns = 0;
	std::uint64_t cpu_ns = 0; // of the writer thread, since the previous write
	StreamNumber stream = 0;
	std::uint32_t blocks = 0; // written to the file
	int error = 0;            // errno if not all were written
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
	// than `reserved` are free.
	bool take(std::uint32_t &index, std::uint32_t reserved = 0);
	// Drain thread: frees returned blocks, and returns their writes since the last call.
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
	// Blocks queued since the last wake-up of the writer.
	std::uint32_t given() const { return given_; }

	// Writer thread.
	void wait() { work_.wait(); }
	bool next(PooledBlock &block) { return closed_.pop(block); }
	void give_back(std::uint32_t index) { returned_.push({index, false}); }
	// Returns the block with the record of its write, so that this needs no queue of its own.
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
	std::vector<BlockWrite> writes_; // of returned blocks
	std::uint32_t given_ = 0;        // since the last wake()
	Wakeup work_;
};

} // namespace monitor::record
