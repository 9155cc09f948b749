// SPDX-License-Identifier: MIT
// Reads a block (monitor/ring.h) by copying: blocks need not be aligned, and others may write to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "monitor/ring.h"

namespace monitor {

inline std::uint64_t word_at(const std::byte *block, std::uint64_t at)
{
	std::uint64_t word;
	std::memcpy(&word, block + at, sizeof word);
	return word;
}

inline edc_block header_of(const std::byte *block)
{
	edc_block header;
	std::memcpy(&header, block, sizeof header);
	return header;
}

} // namespace monitor
