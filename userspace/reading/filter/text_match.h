// SPDX-License-Identifier: MIT
// Matches a value against the constants of a condition: == < in {...} ~.
// Used for names and labels when a class is compiled, for texts per event, and for conditions (condition.h). Texts are
// compared byte by byte. Invariant: takes time at most proportional to the product of the lengths, whatever the
// pattern.
#pragma once

#include <string_view>

#include "expression.h"

namespace monitor::filter {

// Whether the whole text matches the pattern: * any characters, ? one, [a-z] one of these, [!a-z] one of the others,
// \ the next one literally.
bool matches_glob(std::string_view pattern, std::string_view text);

// Whether this relation holds between two values, texts or numbers.
template <class Value> bool holds(Relation relation, const Value &a, const Value &b)
{
	switch (relation) {
	case Relation::equal:
		return a == b;
	case Relation::not_equal:
		return a != b;
	case Relation::less:
		return a < b;
	case Relation::less_equal:
		return a <= b;
	case Relation::greater:
		return a > b;
	case Relation::greater_equal:
		return a >= b;
	}
	return false;
}

// Whether a comparison, glob or set accepts this text as its left side; its numbers match no text. != , !~ and `not in`
// are treated as == , ~ and `in`: the caller negates.
bool accepts_text(const Expression &condition, std::string_view text);

// The same for a number: NaN satisfies no relation.
bool accepts_real(const Expression &condition, double value);

// Whether a comparison or a set of constants accepts this number as its left side, negations included.
bool accepts_number(const Expression &condition, double value);

} // namespace monitor::filter
