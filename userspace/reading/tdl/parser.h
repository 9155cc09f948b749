// SPDX-License-Identifier: MIT
// TDL, the trace description language: from text to a model.
//
// A line is a field, a statement or the start of a block, which `end` ends: a line whose second word is a type is a
// field, whatever its name. The text is untrusted: its size, the nesting and the number of items are bounded, and time
// is linear in the size.
#pragma once

#include <string_view>

#include "model.h"

namespace monitor::trace::tdl {

inline constexpr unsigned max_depth = 16;
inline constexpr std::size_t max_items = 10'000;

// Throws ParseError.
Model parse(std::string_view untrusted_text);

} // namespace monitor::trace::tdl
