// SPDX-License-Identifier: MIT
// From the .eh_frame section of a file to the rows by which a probe finds callers (monitor/stack.h). Called by
// files.cpp.
//
// The section is a list of FDEs, each for a range of addresses, with CIEs that FDEs share (Linux Standard
// Base 5.0, 10.6; the instructions: DWARF 5, 6.4.2). Of all the registers only the canonical frame address and the
// frame pointer are followed; x86-64. The bytes are untrusted: what cannot be understood becomes a row `unknown`,
// nothing loops or grows beyond max_rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "monitor/stack.h"

namespace monitor::stacks {

inline constexpr std::size_t max_rows = 4 << 20; // of a file: a browser has 2 million

// `address`: of the section, as the file counts them. `entry`: of the program, where its first frame is; 0: unknown.
// Sorted by address; empty if there is no FDE.
std::vector<edc_unwind_row> unwind_table(std::span<const std::byte> eh_frame, std::uint64_t address,
					 std::uint64_t entry);

} // namespace monitor::stacks
