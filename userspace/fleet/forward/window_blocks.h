// SPDX-License-Identifier: MIT
// Which blocks of a stream's file overlap a time window, by bisection of the times in their headers.
//
// Of a stream with state, such as that of a CPU, the block before the window is included: its last state holds at the
// window's start; and if the window precedes all of its blocks, the first one, so that the stream is known. Of a file
// that cannot be read, all blocks: sending them will report the error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/block_ranges.h"

namespace monitor::fleet {

// `blocks`: of the file, above 0. Times in ticks.
BlockRanges::Range window_blocks(const std::string &path, std::uint64_t blocks, std::uint64_t from, std::uint64_t to,
				 bool keeps_state);

// From the start of the first block to the end of the last one.
struct StreamSpan {
	std::uint64_t begin = 0, end = 0;
};
std::optional<StreamSpan> stream_span(const std::string &path, std::uint64_t blocks);

} // namespace monitor::fleet
