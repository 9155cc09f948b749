// SPDX-License-Identifier: MIT
// All lines that satisfy some constraints, as a convex polygon: a point is a line's value at one place and its slope.
// A constraint limits the line from above or below at a distance from that place, which cuts the polygon by a straight
// edge. So the extreme values are at corners of the remaining polygon, and if it is empty no line satisfies all
// constraints. One thread.
#pragma once

#include <vector>

namespace monitor::collection {

class FeasibleLines {
public:
	struct Range {
		double min = 0, max = 0;
	};

	// All lines with values and slopes in these ranges.
	FeasibleLines(Range value, Range slope);

	void at_most(double distance, double limit) { cut(1, distance, limit); }
	void at_least(double distance, double limit) { cut(-1, -distance, -limit); }

	bool is_empty() const { return corners_.empty(); }
	// Not for an empty polygon.
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
