// SPDX-License-Identifier: MIT
// Places blocks in the file of a stream, at index x 4096, once and for all.
//
// Called by collector.cpp for every batch. Invariant: a block that is there is never changed. The same bytes again are
// no news; other bytes are a conflict, and the caller keeps them aside. What was never written within a file is a hole
// and reads as zeros, which is no block.
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
	int error = 0;                   // of the file, such as ENOSPC: what is placed is whole, the rest is not there
	bool too_far = false;            // beyond `max_ahead`
	std::uint64_t size_blocks = 0;   // of the file, afterwards
	unsigned added = 0;              // were not there before
	unsigned repeated = 0;           // were there before, with the same bytes
	std::vector<unsigned> conflicts; // which of the blocks were there with other bytes
};

// `fd` is open for reading and writing. `rewrite`: write also what is there with the same bytes, because it could not
// be written to the disk before. `max_ahead`: in blocks beyond the end of the file.
Placed place_blocks(int fd, std::uint64_t first_block, std::span<const std::byte> blocks, bool rewrite,
		    std::uint64_t max_ahead = max_blocks_ahead);

// How many there are in a file. Throws Error.
std::uint64_t count_blocks(const std::string &path);

} // namespace monitor::fleet
