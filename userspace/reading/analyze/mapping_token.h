// SPDX-License-Identifier: MIT
// A change of a process's mappings: a `mapping` token, card.h. Made by ThreadFold, used by reading/symbols.
#pragma once

#include <cstdint>

namespace monitor::analyze {

struct MappingToken {
	std::uint32_t change = 0;
	std::int32_t process = 0, parent = 0;
	std::uint32_t file = 0;
	std::uint64_t time = 0, start = 0, end = 0, offset = 0;
};

} // namespace monitor::analyze
