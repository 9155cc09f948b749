// SPDX-License-Identifier: MIT
// Text -> Expression (expression.h). Called by Filter. Documentation/filters.md has the grammar.
//
// Operators by levels, those that bind loosest first: or, and, not, comparisons, |, ^, &, shifts, + -, * / %, unary -.
// So a bit-and binds tighter than a comparison, other than in C. Constants are computed here.
#pragma once

#include <string_view>

#include "expression.h"

namespace monitor::filter {

// A condition. Throws FilterError: syntax, an overflow of constants, too long or too deep.
Expression parse(std::string_view untrusted_text);

} // namespace monitor::filter
