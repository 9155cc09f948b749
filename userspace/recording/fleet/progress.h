// SPDX-License-Identifier: MIT
// How far a trace is stored by the collector, block by block and file by file; kept on the disk, so that an agent that
// is started again does not send everything again.
//
// Filled by forwarding.cpp with every answer. Invariant: what it says is stored was answered as stored by the collector
// whose number it holds; if another one answers, nothing is.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/fleet/batch.h"

namespace monitor::fleet {

// The blocks of one stream that were answered, in any order.
class StoredBlocks {
public:
	void add(std::uint64_t first, std::uint64_t count);
	// All blocks before this one are stored.
	std::uint64_t prefix() const { return prefix_; }
	void set_prefix(std::uint64_t blocks) { prefix_ = blocks; }

private:
	std::uint64_t prefix_ = 0;
	std::map<std::uint64_t, std::uint64_t> later_; // first, end
};

struct TraceProgress {
	Uuid uuid{};
	std::uint64_t store = 0; // of the collector; 0: none has answered yet
	std::map<std::string, StoredBlocks> streams;
	std::map<std::string, std::uint64_t> files; // content_hash() of what is stored
	bool is_complete = false;                   // it ended, and all of it is stored
	// Blocks that the collector has aside as conflicts; that it refuses; that were removed before they were sent.
	std::uint64_t conflicts = 0, refused = 0, vanished = 0;
	std::uint64_t refused_files = 0; // descriptions

	std::uint64_t stored_blocks() const;
	// A collector that has nothing of it.
	void start_again(std::uint64_t new_store);

	std::string text() const;
	// False: not such a text, or of another trace; then it is as new.
	bool parse(const std::string &untrusted_text, const Uuid &expected);
};

} // namespace monitor::fleet
