// SPDX-License-Identifier: MIT
// Which blocks of a stream's file touch a time window: by bisection of the times in their headers.
//
// Used by trace_tail.cpp for what is fetched. Of a stream that keeps a state, as that of a CPU does, the block before
// the window is one of them: what it says last holds at the window's start; and if the window is before all of its
// blocks, the first one, so that the stream is known at all. Of a file that cannot be read, all: it will be found out
// when it is sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/block_ranges.h"

namespace monitor::fleet {

// `blocks`: of the file, above 0. Times in ticks.
BlockRanges::Range window_blocks(const std::string &path, std::uint64_t blocks, std::uint64_t from, std::uint64_t to,
				 bool keeps_state);

// From the begin of the first block to the end of the last one.
struct StreamSpan {
	std::uint64_t begin = 0, end = 0;
};
std::optional<StreamSpan> stream_span(const std::string &path, std::uint64_t blocks);

} // namespace monitor::fleet
