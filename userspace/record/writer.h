// SPDX-License-Identifier: MIT
// The writer thread: takes closed blocks from the pool and appends them to their streams' files, many in one call.
// Called by recording.cpp (start, finish); the files are the trace's. If the disk refuses, the file is cut back to
// whole packets, the error kept, and every later block dropped: recording.cpp then ends the recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "blocks.h"

namespace monitor::record {

class Writer {
public:
	// `names[n]` is the file of stream n in `directory`; a file is made when its first block comes. There is room
	// for `most_added` further streams.
	Writer(std::string directory, std::vector<std::string> names, std::size_t most_added, BlockPool &pool);
	~Writer();

	// A further stream; its number. Before its first block is given to the pool, from the thread that gives it.
	StreamNumber add_stream(const std::string &name);

	// Write all that is queued, end the thread.
	void finish();

	std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
	std::uint64_t dropped_blocks() const { return dropped_.load(std::memory_order_relaxed); }
	bool failed() const { return failed_.load(std::memory_order_acquire); }
	int failure_fd() const { return failure_fd_.get(); } // readable once failed()
	// Why, after failed().
	const std::string &failure() const { return failure_; }

private:
	void run();
	void write_run(const std::vector<PooledBlock> &run);
	void fail(const std::string &path, int error_number, std::uint64_t whole_bytes, int fd);

	std::string directory_;
	std::vector<std::string> names_;
	std::vector<Fd> files_;
	std::vector<std::uint64_t> sizes_;
	std::size_t streams_; // that have a name; the vectors have room for more
	BlockPool &pool_;
	std::atomic<std::uint64_t> bytes_{0}, dropped_{0};
	std::atomic<bool> stop_{false}, failed_{false};
	std::string failure_;
	Fd failure_fd_;
	std::thread thread_; // last: it uses all of the above
};

} // namespace monitor::record
