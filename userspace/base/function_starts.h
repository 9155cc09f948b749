// SPDX-License-Identifier: MIT
// Where the functions of a stripped program begin: its table for unwinding has each. Used where functions are chosen to
// be recorded (recording/functions) and where stacks are named (reading/symbols), which so call them the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elf_image.h"

namespace monitor {

struct FunctionExtent {
	std::uint64_t address = 0, size = 0;
};

// By the search table of .eh_frame_hdr in its usual encoding: pairs of 32-bit distances from the section's start, in
// order of functions (Linux Standard Base 5.0, 10.6.2). A function reaches to the next one, or to the end of .text. Of
// .text only, by address; empty: there is no such table. A part that the compiler moved out of a function counts as
// one.
std::vector<FunctionExtent> function_extents(const ElfImage &image);

// "gzip+0x4290": what a function without a name is called.
std::string unnamed_function(const std::string &file, std::uint64_t address);

} // namespace monitor
