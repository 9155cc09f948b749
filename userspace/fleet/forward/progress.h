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
	// Of these, blocks that the collector lacks: refused, or removed before they were sent.
	std::map<std::string, BlockRanges> absent;
	std::map<std::string, std::uint64_t> files; // content_hash() of what is stored
	bool is_complete = false;                   // it ended, and all of it is stored
	// Blocks kept aside by the collector as conflicts; refused by it; removed before they were sent.
	std::uint64_t conflicts = 0, refused = 0, vanished = 0;
	std::uint64_t refused_files = 0; // descriptions
	// Requests for the trace; they survive the recording, the agent and a change of the collector.
	struct Wanted {
		std::optional<Forward> forward;            // nullopt: not known yet
		std::vector<FetchedTrace::Window> windows; // of what stays on the host
		std::string request;                       // nonce of the last command
	};
	Wanted wanted;

	std::uint64_t stored_blocks() const;
	// For a new collector that has nothing of the trace.
	void start_again(std::uint64_t new_store);

	std::string text() const;
	// False: invalid, or another trace's; then it is reset.
	bool parse(const std::string &untrusted_text, const Uuid &expected);
};

} // namespace monitor::fleet
