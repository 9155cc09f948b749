// SPDX-License-Identifier: MIT
// Unwind rows of a Go program, from its runtime's tables, which say where goroutines begin and which functions switch
// stacks (base/go_functions.h).
//
// Where a switch to the thread's stack saves the goroutine's differs between versions, and is decoded from the code. If
// that is not recognized, stacks end there, with an unknown rule.
#pragma once

#include <vector>

#include "base/elf_image.h"
#include "monitor/stack.h"

namespace monitor::stacks {

// By address; empty: not a Go program.
std::vector<edc_unwind_row> go_rows(const ElfImage &image);

} // namespace monitor::stacks
