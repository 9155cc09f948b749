// SPDX-License-Identifier: MIT
// Rows of a program of Go: of the tables of its own runtime, which know where goroutines begin and which functions go
// to another stack (base/go_functions.h).
//
// Who goes to the thread's stack keeps where it came from in places that differ from version to version; they are taken
// from its code. If that looks otherwise, stacks end there, with an unknown rule.
#pragma once

#include <vector>

#include "base/elf_image.h"
#include "monitor/stack.h"

namespace monitor::stacks {

// By address; empty: it is none of Go.
std::vector<edc_unwind_row> go_rows(const ElfImage &image);

} // namespace monitor::stacks
