// SPDX-License-Identifier: MIT
// Rows for code that no table says anything of: if it keeps frame pointers, as it was built without tables, or made by
// a program's own assembler (V8's builtins); and where signal handlers return to, which debuggers know by its code, too
// (musl's, Go's).
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
// `assumed`: becomes where that is so, which nothing proves: of a function there that sets none the caller is missing.
struct CodeRange {
	std::uint32_t first = 0, end = 0;
};
std::vector<edc_unwind_row> with_frame_pointers(const std::vector<edc_unwind_row> &rows, const ElfImage &image,
						std::vector<CodeRange> &assumed);

// The rows of one stretch of code, which is at `address`. Empty: no function there starts so.
std::vector<edc_unwind_row> frame_pointer_rows(std::span<const std::byte> code, std::uint32_t address);

// How many bytes the call rt_sigreturn has that begins there: signal(7), "Execution of signal handlers". 0: it is none.
std::size_t signal_return_size(std::span<const std::byte> code, std::size_t place = 0);

// Up to `size` bytes of the executable code at `address`, as the file counts; empty: there is none.
std::span<std::byte> read_code(const ElfImage &image, std::uint64_t address, std::uint64_t size,
			       std::vector<std::byte> &into);

} // namespace monitor::stacks
