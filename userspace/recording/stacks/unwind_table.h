// SPDX-License-Identifier: MIT
// Converts .eh_frame or .debug_frame into unwind rows for probes (monitor/stack.h).
//
// The section is a list of FDEs, each for a range of addresses, with CIEs that FDEs share (Linux Standard
// Base 5.0, 10.6; DWARF 5, 6.4; the instructions: 6.4.2). Of all the registers only the canonical frame address and the
// frame pointer are followed; x86-64. The bytes are untrusted: what cannot be understood becomes a row `unknown`,
// nothing loops or grows beyond max_rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/eh_frame.h"
#include "monitor/stack.h"
#include "row_list.h"

namespace monitor::stacks {

// `address`: of the section, as the file counts them. Sorted by address; empty if there is no FDE.
std::vector<edc_unwind_row> unwind_table(std::span<const std::byte> section, std::uint64_t address,
					 eh::SectionKind kind = eh::SectionKind::eh_frame);

} // namespace monitor::stacks
