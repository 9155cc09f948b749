// SPDX-License-Identifier: MIT
// All lines that satisfy some constraints, as a convex polygon: a point is a line's value at one place and its slope.
//
// A constraint bounds the line from above or below at a distance from that place. Each one cuts the polygon by a
// straight edge, so the lowest and the highest value are at corners of the rest, and if nothing is left no line
// satisfies them all. One thread.
#pragma once

#include <vector>

namespace monitor::collection {

class FeasibleLines {
public:
	struct Range {
		double min = 0, max = 0;
	};

	// All lines with such a value and such a slope.
	FeasibleLines(Range value, Range slope);

	void at_most(double distance, double limit) { cut(1, distance, limit); }
	void at_least(double distance, double limit) { cut(-1, -distance, -limit); }

	bool is_empty() const { return corners_.empty(); }
	// Not of an empty one.
	Range values() const;
	Range slopes() const;

private:
	struct Corner {
		double value, slope;
	};
	// Keeps value * a + slope * b <= limit.
	void cut(double a, double b, double limit);

	std::vector<Corner> corners_, kept_;
};

} // namespace monitor::collection
