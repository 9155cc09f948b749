// SPDX-License-Identifier: MIT
// Text -> Expression (expression.h). Documentation/filters.md has the grammar.
//
// Operator levels, loosest binding first: or, and, not, comparisons, |, ^, &, shifts, + -, * / %, unary -. Unlike in C,
// a bit-and binds tighter than a comparison. Constants are computed here.
#pragma once

#include <string_view>

#include "expression.h"

namespace monitor::filter {

// Start of the message that refuses a second condition after the first.
inline constexpr std::string_view no_operator = "an operator is missing before ";

// Returns a condition. Throws ParseError: bad syntax, overflow of a constant, too long or too deep.
Expression parse(std::string_view untrusted_text);

} // namespace monitor::filter
