// SPDX-License-Identifier: MIT
// Reads a block (monitor/ring.h) by copying: blocks need not be aligned, and others may write to them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "load.h"
#include "monitor/ring.h"

namespace monitor {

inline std::uint64_t word_at(const std::byte *block, std::uint64_t at)
{
	return load<std::uint64_t>(block + at);
}

inline edc_block header_of(const std::byte *block)
{
	return load<edc_block>(block);
}

} // namespace monitor
