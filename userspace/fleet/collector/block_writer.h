// SPDX-License-Identifier: MIT
// Writes blocks to the file of a stream, at index x 4096, once.
//
// Invariant: a stored block never changes. The same bytes again count as repeated; other bytes are a conflict, and the
// caller keeps them aside. Blocks that were never written are holes, read as zeros, which is no block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monitor::fleet {

// How far a block may be from the end of its file: four windows of a forwarder, which sends in order.
inline constexpr std::uint64_t max_blocks_ahead = 16384;

struct Placed {
	int error = 0;                   // errno, such as ENOSPC: whole blocks are written, the rest is missing
	bool too_far = false;            // beyond `max_ahead`
	std::uint64_t size_blocks = 0;   // of the file, after the call
	unsigned added = 0;              // new blocks
	unsigned repeated = 0;           // already stored, with the same bytes
	std::vector<unsigned> conflicts; // which of the blocks are stored with other bytes
};

// `fd` is open for reading and writing. `rewrite`: also write repeated blocks, because an earlier write to the disk
// failed. `max_ahead`: in blocks beyond the end of the file.
Placed place_blocks(int fd, std::uint64_t first_block, std::span<const std::byte> blocks, bool rewrite,
		    std::uint64_t max_ahead = max_blocks_ahead);

// The number of blocks in a file. Throws Error.
std::uint64_t count_blocks(const std::string &path);

} // namespace monitor::fleet
