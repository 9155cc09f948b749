// SPDX-License-Identifier: MIT
#include "blocks.h"

#include <atomic>

#include <linux/membarrier.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::record {

bool order_memory()
{
	std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__x86_64__)
	return true;
#else
	return ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0;
#endif
}

void run_promptly()
{
	constexpr int nice = -10;
	const auto thread = static_cast<id_t>(::gettid());
	if (::getpriority(PRIO_PROCESS, thread) > nice)
		::setpriority(PRIO_PROCESS, thread, nice);
}

BlockPool::BlockPool(std::uint32_t blocks) : closed_(blocks), returned_(blocks)
{
	const std::size_t size_bytes = std::size_t{blocks} * EDC_BLOCK_SIZE;
	void *address = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (address == MAP_FAILED)
		throw Error(errno, "cannot allocate the block pool; try a smaller --buffer");
	memory_ = Mapping(address, size_bytes);
	free_.reserve(blocks);
	for (std::uint32_t i = blocks; i-- > 0;)
		free_.push_back(i);
}

void BlockPool::take_returned()
{
	for (ReturnedBlock returned; returned_.pop(returned);) {
		free_.push_back(returned.index);
		if (returned.carries_write)
			std::memcpy(&writes_.emplace_back(), at(returned.index), sizeof(BlockWrite));
	}
}

std::vector<BlockWrite> BlockPool::take_writes()
{
	take_returned();
	return std::exchange(writes_, {});
}

bool BlockPool::take(std::uint32_t &index, std::uint32_t reserved)
{
	take_returned();
	if (free_.size() <= reserved)
		return false;
	index = free_.back();
	free_.pop_back();
	return true;
}

} // namespace monitor::record
