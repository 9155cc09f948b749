// SPDX-License-Identifier: MIT
// Rows for code without unwind tables: code with frame pointers (built without tables, or generated, such as V8's
// builtins), and signal return trampolines, recognized by their code as in debuggers (musl's, Go's).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/elf_image.h"
#include "monitor/stack.h"

namespace monitor::stacks {

inline constexpr std::size_t max_gap_code = 16 << 20; // bytes of code scanned in a file
inline constexpr std::size_t min_gap = 16;            // less is alignment padding

// If a range of code without a rule has a standard prologue (push %rbp; mov %rsp,%rbp), it is assumed to keep frame
// pointers from there to its end. Code without a prologue, such as hand-written assembler, has no rule: a stack ends
// there instead of continuing at a wrong caller. Rows stay sorted. `assumed`: gets these unproven ranges; if a function
// in one sets no frame pointer, its caller is missing.
struct CodeRange {
	std::uint32_t first = 0, end = 0;
};
std::vector<edc_unwind_row> with_frame_pointers(const std::vector<edc_unwind_row> &rows, const ElfImage &image,
						std::vector<CodeRange> &assumed);

// The rows of one range of code at `address`. Empty: no standard prologue.
std::vector<edc_unwind_row> frame_pointer_rows(std::span<const std::byte> code, std::uint32_t address);

// Size of the rt_sigreturn trampoline that starts there: signal(7), "Execution of signal handlers". 0: none.
std::size_t signal_return_size(std::span<const std::byte> code, std::size_t offset = 0);

// Up to `size` bytes of executable code at the link-time `address`; empty: none.
std::span<std::byte> read_code(const ElfImage &image, std::uint64_t address, std::uint64_t size,
			       std::vector<std::byte> &into);

} // namespace monitor::stacks
