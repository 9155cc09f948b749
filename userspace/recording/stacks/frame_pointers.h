// SPDX-License-Identifier: MIT
// Rows for code that .eh_frame says nothing of, but that keeps frame pointers: built without unwind tables, or made by
// a program's own assembler (V8's builtins). Called by code_files.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/elf_image.h"
#include "monitor/stack.h"

namespace monitor::stacks {

inline constexpr std::size_t max_gap_code = 16 << 20; // bytes of code that are looked at, of a file
inline constexpr std::size_t min_gap = 16;            // less is only what aligns the next function

// Where a stretch of code without a rule has a function's usual start (push %rbp; mov %rsp,%rbp), it is taken to keep
// frame pointers from there to its end. Code without such a start, such as hand-written assembler, still has no rule:
// a stack ends there rather than continue at a wrong caller. Rows stay in order.
std::vector<edc_unwind_row> with_frame_pointers(const std::vector<edc_unwind_row> &rows, const ElfImage &image);

// The rows of one stretch of code, which is at `address`. Empty: no function there starts so.
std::vector<edc_unwind_row> frame_pointer_rows(std::span<const std::byte> code, std::uint32_t address);

} // namespace monitor::stacks
