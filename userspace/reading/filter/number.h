// SPDX-License-Identifier: MIT
// Exact arithmetic on mathematical integers, from the least signed to the greatest unsigned 64-bit value. No value
// wraps and none is rounded: a result outside these bounds, a division by zero and a shift by more than 63 have no
// value.
//
// Invariant: calculate() gives a value within the bounds or none.
#pragma once

#include <cstdint>
#include <limits>

namespace monitor::filter {

using Integer = __int128;

inline constexpr Integer min_integer = std::numeric_limits<std::int64_t>::min();
inline constexpr Integer max_integer = std::numeric_limits<std::uint64_t>::max();

inline bool is_within_bounds(Integer value)
{
	return value >= min_integer && value <= max_integer;
}

// A constant: an integer, or a number between two integers, which only comparisons accept.
struct Number {
	Integer floor = 0;
	bool has_fraction = false; // greater than floor, less than floor + 1
	bool has_unit = false;     // written with ns, us, ms or s: in nanoseconds
	double fraction = 0;       // the part above floor, as precise as a double

	double real() const { return static_cast<double>(floor) + fraction; }
};

enum class Arithmetic : std::uint8_t {
	add,
	subtract,
	multiply,
	divide,    // toward zero, as C does
	remainder, // with the sign of the left side
	bit_and,   // bits as in two's complement of unlimited width: -1 has all of them set
	bit_or,
	bit_xor,
	shift_left,
	shift_right, // rounds down
};

// False: the result has no value.
bool calculate(Arithmetic operation, Integer a, Integer b, Integer &result);

} // namespace monitor::filter
