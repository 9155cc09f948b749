// SPDX-License-Identifier: MIT
#include "number.h"

namespace monitor::filter {
namespace {

using Magnitude = unsigned __int128;

Magnitude magnitude(Integer value)
{
	return value < 0 ? Magnitude(0) - static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
}

// The product of two values within the bounds needs 128 bits and a sign.
bool multiply(Integer a, Integer b, Integer &result)
{
	const Magnitude product = magnitude(a) * magnitude(b);
	if (product > magnitude(max_integer))
		return false;
	result = static_cast<Integer>(product);
	if ((a < 0) != (b < 0))
		result = -result;
	return true;
}

} // namespace

bool calculate(Arithmetic operation, Integer a, Integer b, Integer &result)
{
	switch (operation) {
	case Arithmetic::add:
		result = a + b;
		break;
	case Arithmetic::subtract:
		result = a - b;
		break;
	case Arithmetic::multiply:
		if (!multiply(a, b, result))
			return false;
		break;
	case Arithmetic::divide:
	case Arithmetic::remainder:
		if (b == 0)
			return false;
		result = operation == Arithmetic::divide ? a / b : a % b;
		break;
	case Arithmetic::bit_and:
		result = a & b;
		break;
	case Arithmetic::bit_or:
		result = a | b;
		break;
	case Arithmetic::bit_xor:
		result = a ^ b;
		break;
	case Arithmetic::shift_left:
	case Arithmetic::shift_right:
		if (b < 0 || b > 63)
			return false;
		// the factor is a power of two below 2^64
		if (operation == Arithmetic::shift_left)
			return multiply(a, Integer(1) << b, result) && is_within_bounds(result);
		result = a >> b;
		break;
	}
	return is_within_bounds(result);
}

} // namespace monitor::filter
