// SPDX-License-Identifier: MIT
// One constraint of a WHERE, made ready to be asked of many events: SQLite's semantics, or wider.
//
// Made by make_test() from an operator and its values, asked by EventScan before a row is made. SQLite asks again of
// each row, so a test may take too much, never too little. Const, allocates nothing when asked.
// Invariant: NULL is taken by none.
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

struct Test {
	Type type = Type::integer;
	Op op = Op::equal;
	// of integers and reals; both ends are taken
	std::int64_t first = lowest, last = highest;
	double least = -std::numeric_limits<double>::infinity(), greatest = std::numeric_limits<double>::infinity();
	std::vector<std::int64_t> integers; // of `in`, sorted
	std::vector<std::string> texts;     // sorted

	bool takes(std::int64_t value) const;
	bool takes(double value) const { return value >= least && value <= greatest; }
	bool takes(std::string_view value) const;
	bool takes_none() const { return first > last; }
};

// A column of this type in relation to these values, one unless it is `in`. Empty: a test cannot say it, all is to be
// taken.
std::optional<Test> make_test(Type type, Op op, const std::vector<Value> &values);

} // namespace monitor::query
