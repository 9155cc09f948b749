// SPDX-License-Identifier: MIT
// The writer thread: takes closed blocks from the pool and appends them to their streams' files, many in one call. If a
// write fails, the file is truncated to whole packets, the failure is reported, and every later block is dropped:
// Recording then ends the recording.
// Invariant: the thread allocates nothing, so blocks return to the pool whatever resource is missing.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <sys/uio.h>

#include "blocks.h"
#include "clock.h"
#include "failure.h"

namespace monitor::record {

class Writer {
public:
	// `names[n]` is the file of stream n in `directory`, created with its first block. `max_added` further streams
	// can be added. With `read_time` blocks are returned with the cost of their write (BlockPool::take_writes).
	// Throws Error.
	Writer(std::string directory, std::vector<std::string> names, std::size_t max_added, BlockPool &pool,
	       Failure &failure, ReadTime read_time = nullptr);
	~Writer() { finish(); }

	// Adds a stream and returns its number. Call it before its first block is given to the pool, from
	// the thread that gives it.
	StreamNumber add_stream(const std::string &name);

	// Each has a file once its first block has arrived.
	std::size_t max_streams() const { return files_.size(); }

	// Write all queued blocks and end the thread.
	void finish();

	std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
	std::uint64_t dropped_blocks() const { return dropped_.load(std::memory_order_relaxed); }
	// After finish(): of each file.
	std::map<std::string, std::uint64_t> packets() const;

private:
	void run();
	void write(std::span<PooledBlock> blocks);
	void write_run(std::span<const PooledBlock> run);
	std::size_t write_to_file(std::span<const PooledBlock> run);
	bool open(StreamNumber stream);
	std::size_t append(StreamNumber stream, std::span<iovec> parts);
	void cut_back(StreamNumber stream, int error_number);

	std::string directory_;
	Fd directory_fd_;
	std::vector<std::string> names_;
	std::vector<Fd> files_;
	std::vector<std::uint64_t> sizes_;
	std::size_t streams_; // with a name; the vectors have entries for more
	BlockPool &pool_;
	std::atomic<std::uint64_t> bytes_{0}, dropped_{0};
	Failure &failure_;
	std::atomic<bool> stop_{false};
	const ReadTime read_time_;
	int error_ = 0;                // used by the thread only: errno of a failed write
	std::uint64_t cpu_before_ = 0; // the thread's CPU time at the end of the last write
	std::thread thread_;           // last: it uses all of the above
};

} // namespace monitor::record
