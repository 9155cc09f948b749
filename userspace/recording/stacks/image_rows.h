// SPDX-License-Identifier: MIT
// The unwind rows of a file, from all of its tables, and from its code where there are none.
#pragma once

#include <vector>

#include "base/elf_image.h"
#include "frame_pointers.h"
#include "monitor/stack.h"

namespace monitor::stacks {

// By address. Sources in order of precedence: .eh_frame, Go's table, .debug_frame, the code (frame_pointers.h). The
// entry point is marked as outermost. Empty: addresses do not fit into a row. `assumed`: see frame_pointers.h.
std::vector<edc_unwind_row> image_rows(const ElfImage &image, std::vector<CodeRange> &assumed);

// `rows`, with gaps filled from `others`.
std::vector<edc_unwind_row> fill_gaps(const std::vector<edc_unwind_row> &rows,
				      const std::vector<edc_unwind_row> &others);

// Marks the entry point as outermost, even without a rule (ld.so's).
void mark_entry(std::vector<edc_unwind_row> &rows, std::uint64_t entry);

} // namespace monitor::stacks
