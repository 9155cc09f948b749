// SPDX-License-Identifier: MIT
#include "feasible_lines.h"

#include <algorithm>

namespace monitor::collection {

FeasibleLines::FeasibleLines(Range value, Range slope)
{
	if (value.min <= value.max)
		corners_ = {
		    {value.min, slope.min}, {value.max, slope.min}, {value.max, slope.max}, {value.min, slope.max}};
}

void FeasibleLines::cut(double a, double b, double limit)
{
	const auto outside = [&](const Corner &corner) { return corner.value * a + corner.slope * b - limit; };
	if (std::all_of(corners_.begin(), corners_.end(), [&](const Corner &corner) { return outside(corner) <= 0; }))
		return;
	kept_.clear();
	for (std::size_t i = 0; i < corners_.size(); ++i) {
		const Corner &from = corners_[i], &to = corners_[i + 1 < corners_.size() ? i + 1 : 0];
		const double before = outside(from), after = outside(to);
		if (before <= 0)
			kept_.push_back(from);
		if ((before < 0 && after > 0) || (before > 0 && after < 0)) {
			const double part = before / (before - after);
			kept_.push_back(
			    {from.value + part * (to.value - from.value), from.slope + part * (to.slope - from.slope)});
		}
	}
	corners_.swap(kept_);
}

FeasibleLines::Range FeasibleLines::values() const
{
	Range range{corners_.front().value, corners_.front().value};
	for (const Corner &corner : corners_)
		range = {std::min(range.min, corner.value), std::max(range.max, corner.value)};
	return range;
}

FeasibleLines::Range FeasibleLines::slopes() const
{
	Range range{corners_.front().slope, corners_.front().slope};
	for (const Corner &corner : corners_)
		range = {std::min(range.min, corner.slope), std::max(range.max, corner.slope)};
	return range;
}

} // namespace monitor::collection
