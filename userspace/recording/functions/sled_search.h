// SPDX-License-Identifier: MIT
// Sleds: space that a compiler left for calls at the entry and exits of functions, to patch them instead of using
// uprobes (monitor/function_table.h). Runs in the confined process of file_search.cpp.
#pragma once

#include <vector>

#include "base/elf_image.h"
#include "exit_search.h"

namespace monitor::functions {

// All sleds of a program or library, sorted, as addresses instead of offsets: from clang -fxray-instrument, or gcc
// -mrecord-mcount and -mrecord-return. Empty: none, or no library can be preloaded.
std::vector<card::FunctionSled> sleds_of(const ElfImage &image);

// The sleds of a function, or none unless its entry and all exits have one.
std::vector<card::FunctionSled> sleds_of(const std::vector<card::FunctionSled> &all, const std::vector<CodePart> &parts,
					 const Exits &found);

} // namespace monitor::functions
