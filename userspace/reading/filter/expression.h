// SPDX-License-Identifier: MIT
// An expression as a tree, with its syntax checked and its constants computed.
//
// Made by parse() (parser.h), read by check() and compile(). Names are not looked up yet: the tree fits any trace.
// Invariants: `and`, `or` and `not` have conditions as children, everything else has values; the left side of a
// comparison, of ~ and of `in` is not a constant; the tree is at most max_depth high.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "number.h"

namespace monitor::filter {

inline constexpr std::size_t max_expression_bytes = 1 << 16;
inline constexpr std::size_t max_depth = 100;

enum class Relation : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

struct Expression {
	enum class Kind : std::uint8_t {
		// values
		number,
		text,
		name,
		arithmetic, // two children
		range,      // first and last, constants; only in a set
		// conditions
		comparison,  // two children
		glob,        // a value and a text; not_equal: !~
		within,      // a value and the elements of a set; not_equal: not in
		has,         // a name
		negation,    // one child
		conjunction, // two children or more
		disjunction,
	};

	Kind kind = Kind::number;
	Relation relation = Relation::equal;
	Arithmetic arithmetic = Arithmetic::add;
	bool is_field = false; // event.NAME: a field, even if every event has a property of this name
	std::size_t at = 0;    // byte offset in the text; for an operation, of its operator
	std::size_t height = 1;
	Number number;
	std::string text; // of a text or a name
	std::vector<Expression> children;

	bool is_condition() const { return kind >= Kind::comparison; }
	bool is_constant() const { return kind == Kind::number || kind == Kind::text; }
};

} // namespace monitor::filter
