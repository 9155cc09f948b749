// SPDX-License-Identifier: MIT
// How much of a trace the collector has stored, by block and by file; kept on the disk, so that a restarted agent does
// not send everything again.
//
// Updated with every answer. Invariant: what it says is stored was answered as stored by the collector whose number it
// holds; if another one answers, nothing is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/block_ranges.h"
#include "base/fetched_trace.h"
#include "fleet/wire/batch.h"
#include "fleet/wire/forward.h"

namespace monitor::fleet {

// The blocks of one stream that were answered.
using StoredBlocks = BlockRanges;

struct TraceProgress {
	Uuid uuid{};
	std::uint64_t store = 0; // of the collector; 0: none has answered yet
	std::map<std::string, StoredBlocks> streams;
	// Of these, what the collector does not have: refused, or removed before it was sent.
	std::map<std::string, BlockRanges> absent;
	std::map<std::string, std::uint64_t> files; // content_hash() of what is stored
	bool is_complete = false;                   // it ended, and all of it is stored
	// Blocks that the collector keeps aside as conflicts; that it refuses; that were removed before they were sent.
	std::uint64_t conflicts = 0, refused = 0, vanished = 0;
	std::uint64_t refused_files = 0; // descriptions
	// What was requested; it survives the recording, the agent and a change of the collector.
	struct Wanted {
		std::optional<Forward> forward;            // none: not known yet
		std::vector<FetchedTrace::Window> windows; // of what stays on the host
		std::string request;                       // the nonce of the last command
	};
	Wanted wanted;

	std::uint64_t stored_blocks() const;
	// For a collector that has nothing of it.
	void start_again(std::uint64_t new_store);

	std::string text() const;
	// False: invalid, or of another trace; then it is as new.
	bool parse(const std::string &untrusted_text, const Uuid &expected);
};

} // namespace monitor::fleet
