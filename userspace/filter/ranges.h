// SPDX-License-Identifier: MIT
// Sets of integers as ranges: what every comparison of a number with constants comes down to.
//
// Used by compile() per event class. Invariant: Ranges are sorted, neither overlap nor touch, and lie within lowest and
// highest, which no value and no difference of two values reaches.
#pragma once

#include <vector>

#include "expression.h"
#include "number.h"

namespace monitor::filter {

inline constexpr Integer lowest = -(Integer(1) << 100), highest = Integer(1) << 100;

struct Range {
	Integer first, last; // both included
};
using Ranges = std::vector<Range>;

// The integers that stand in this relation to a constant.
Ranges related(Relation relation, const Number &constant);
// Those from one constant to another.
Ranges between(const Number &first, const Number &last);
// Any ranges, sorted and joined.
Ranges joined(Ranges ranges);
Ranges complement(const Ranges &ranges);
// What of them lies within a range.
Ranges clipped(const Ranges &ranges, Range to);

} // namespace monitor::filter
