// SPDX-License-Identifier: MIT
// Space that a compiler left in a program for calls at the entry and the exits of functions (sleds), which a recording
// without uprobes can use: see monitor/function_table.h. Called by file_search.cpp in its confined process.
#pragma once

#include <vector>

#include "base/elf_image.h"
#include "exit_search.h"

namespace monitor::functions {

// All of a program or library, in order, with addresses instead of offsets: from the sections of clang
// -fxray-instrument, or of gcc -mrecord-mcount and -mrecord-return. Empty: it has none, or is no file that a library
// can be preloaded into.
std::vector<card::FunctionSled> sleds_of(const ElfImage &image);

// Those of a function, if its entry and each of its exits has one, else none.
std::vector<card::FunctionSled> sleds_of(const std::vector<card::FunctionSled> &all, const std::vector<CodePart> &parts,
					 const Exits &found);

} // namespace monitor::functions
