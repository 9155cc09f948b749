// SPDX-License-Identifier: MIT
// Exact arithmetic: integers are those of the mathematician, from the least signed to the greatest unsigned one of 64
// bits. No value wraps and none is rounded: what leaves these bounds, a division by zero and a shift by more than 63
// have no value.
//
// Used by the parser for constants and by the programs (program.h) for what is computed of an event.
// Invariant: calculate() gives a value within the bounds or none.
#pragma once

#include <cstdint>
#include <limits>

namespace monitor::filter {

using Integer = __int128;

inline constexpr Integer least_integer = std::numeric_limits<std::int64_t>::min();
inline constexpr Integer greatest_integer = std::numeric_limits<std::uint64_t>::max();

inline bool is_within_bounds(Integer value)
{
	return value >= least_integer && value <= greatest_integer;
}

// A constant: an integer, or a number between two of them, which only comparisons take.
struct Number {
	Integer floor = 0;
	bool has_fraction = false; // greater than floor, less than floor + 1
	bool has_unit = false;     // written with ns, us, ms or s: in nanoseconds
	double fraction = 0;       // so much greater than floor, as near as a double comes

	double real() const { return static_cast<double>(floor) + fraction; }
};

enum class Arithmetic : std::uint8_t {
	add,
	subtract,
	multiply,
	divide,    // toward zero, as C does
	remainder, // with the sign of the left side
	bit_and,   // bits as of two's complement without end: -1 has them all
	bit_or,
	bit_xor,
	shift_left,
	shift_right, // rounds down
};

// False: there is no value.
bool calculate(Arithmetic operation, Integer a, Integer b, Integer &result);

} // namespace monitor::filter
