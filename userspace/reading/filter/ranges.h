// SPDX-License-Identifier: MIT
// Sets of integers as ranges: every comparison of a number with constants is reduced to such a set.
//
// Invariant: Ranges are sorted, neither overlap nor touch, and are within lowest and highest, which no value and no
// difference of two values reaches.
#pragma once

#include <vector>

#include "expression.h"
#include "number.h"

namespace monitor::filter {

inline constexpr Integer lowest = -(Integer(1) << 100), highest = Integer(1) << 100;

struct Range {
	Integer first, last; // both included

	bool operator==(const Range &) const = default;
};
using Ranges = std::vector<Range>;

// The integers that satisfy this relation to a constant.
Ranges related(Relation relation, const Number &constant);
// The integers from one constant to another.
Ranges between(const Number &first, const Number &last);
// Any ranges, sorted and merged.
Ranges joined(Ranges ranges);
Ranges complement(const Ranges &ranges);
Ranges intersection(const Ranges &a, const Ranges &b);
// Intersections with a range.
Ranges clipped(const Ranges &ranges, Range to);

} // namespace monitor::filter
