// SPDX-License-Identifier: MIT
// A text against the constants of a condition: == < in {...} ~.
//
// Called when a class is compiled, for names and labels, and per event for texts. Texts are compared byte by byte.
// Invariant: takes time proportional to the lengths' product at most, whatever the pattern.
#pragma once

#include <string_view>

#include "expression.h"

namespace monitor::filter {

// Whether the whole text fits the pattern: * any characters, ? one, [a-z] one of these, [!a-z] one of the others, \ the
// next one as it is.
bool matches_glob(std::string_view pattern, std::string_view text);

// Whether two texts stand in this relation.
bool compare_texts(Relation relation, std::string_view a, std::string_view b);

// Whether a comparison, glob or set takes this text for its left side; numbers among its constants take none. != , !~
// and `not in` are answered as == , ~ and `in`: the negation is the caller's.
bool takes_text(const Expression &condition, std::string_view text);

} // namespace monitor::filter
