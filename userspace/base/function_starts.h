// SPDX-License-Identifier: MIT
// Where the functions of a stripped program begin, from its unwind table: the same ones when functions to record are
// chosen (recording/functions) and when stacks are symbolized (reading/symbols).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elf_image.h"

namespace monitor {

struct FunctionExtent {
	std::uint64_t address = 0, size = 0;
};

// Functions of .text by address, from the search table of .eh_frame_hdr in its usual encoding (Linux Standard Base 5.0,
// 10.6.2). A function extends to the next one, or to the end of .text; a part that the compiler moved out (.cold)
// counts as a function. Empty: no such table.
std::vector<FunctionExtent> function_extents(const ElfImage &image);

// "gzip+0x4290": what a function without a name is called.
std::string unnamed_function(const std::string &file, std::uint64_t address);

} // namespace monitor
