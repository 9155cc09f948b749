// SPDX-License-Identifier: MIT
// One constraint of a WHERE, prepared to be checked against many events: SQLite's semantics, or wider.
//
// Made by make_constraint() from an operator and its values, checked by EventScan before a row is made. SQLite checks
// each row again, so a constraint may accept too much, never too little. Const; a check does not allocate. Invariant:
// no constraint accepts NULL.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "value.h"

namespace monitor::query {

enum class Op : std::uint8_t { equal, less, less_equal, greater, greater_equal, in, glob, like };

enum class Type : std::uint8_t { integer, real, text };

struct Constraint {
	Type type = Type::integer;
	Op op = Op::equal;
	// Of integers and reals; both ends are included.
	std::int64_t first = lowest, last = highest;
	double least = -std::numeric_limits<double>::infinity(), greatest = std::numeric_limits<double>::infinity();
	std::vector<std::int64_t> integers; // of `in`, sorted
	std::vector<std::string> texts;     // sorted

	bool accepts(std::int64_t value) const;
	bool accepts(double value) const { return value >= least && value <= greatest; }
	bool accepts(std::string_view value) const;
};

// A column of this type compared with these values (one value unless `op` is `in`). nullopt: cannot be pushed down;
// accept all rows.
std::optional<Constraint> make_constraint(Type type, Op op, const std::vector<Value> &values);

} // namespace monitor::query
