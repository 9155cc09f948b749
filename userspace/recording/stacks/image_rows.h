// SPDX-License-Identifier: MIT
// The rows of a file: of all the tables that it has, and of its code where it has none.
#pragma once

#include <vector>

#include "base/elf_image.h"
#include "frame_pointers.h"
#include "monitor/stack.h"

namespace monitor::stacks {

// By address. .eh_frame comes first, which the program itself unwinds by; what that does not describe is taken from
// Go's table, then from .debug_frame, then from what the code itself shows (frame_pointers.h). Where the program begins
// there is no caller. Empty: the addresses do not fit into a row. `assumed`: see frame_pointers.h.
std::vector<edc_unwind_row> image_rows(const ElfImage &image, std::vector<CodeRange> &assumed);

// `rows`, and between them, where they have no rule, those of `others`.
std::vector<edc_unwind_row> filled(const std::vector<edc_unwind_row> &rows, const std::vector<edc_unwind_row> &others);

// The start of a program may have no rule (ld.so's); nobody called it.
void mark_entry(std::vector<edc_unwind_row> &rows, std::uint64_t entry);

} // namespace monitor::stacks
