// SPDX-License-Identifier: MIT
#include "ranges.h"

#include <algorithm>

namespace monitor::filter {

Ranges related(Relation relation, const Number &constant)
{
	// The largest integer below the constant, and the smallest above it.
	const Integer below = constant.floor - (constant.has_fraction ? 0 : 1), above = constant.floor + 1;
	switch (relation) {
	case Relation::equal:
		return constant.has_fraction ? Ranges{} : Ranges{{constant.floor, constant.floor}};
	case Relation::not_equal:
		return complement(related(Relation::equal, constant));
	case Relation::less:
		return {{lowest, below}};
	case Relation::less_equal:
		return {{lowest, constant.floor}};
	case Relation::greater:
		return {{above, highest}};
	case Relation::greater_equal:
		return {{below + 1, highest}};
	}
	return {};
}

Ranges between(const Number &first, const Number &last)
{
	return clipped(related(Relation::greater_equal, first), related(Relation::less_equal, last).front());
}

Ranges joined(Ranges ranges)
{
	std::ranges::sort(ranges, {}, &Range::first);
	Ranges made;
	for (const Range &range : ranges) {
		if (!made.empty() && range.first <= made.back().last + 1)
			made.back().last = std::max(made.back().last, range.last);
		else
			made.push_back(range);
	}
	return made;
}

Ranges complement(const Ranges &ranges)
{
	Ranges made;
	Integer from = lowest;
	for (const Range &range : ranges) {
		if (from < range.first)
			made.push_back({from, range.first - 1});
		from = range.last + 1;
	}
	if (from <= highest)
		made.push_back({from, highest});
	return made;
}

Ranges intersection(const Ranges &a, const Ranges &b)
{
	Ranges made;
	for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
		const Range both = {std::max(x->first, y->first), std::min(x->last, y->last)};
		if (both.first <= both.last)
			made.push_back(both);
		if (x->last < y->last)
			++x;
		else
			++y;
	}
	return made;
}

Ranges clipped(const Ranges &ranges, Range to)
{
	Ranges made;
	for (const Range &range : ranges) {
		const Range part = {std::max(range.first, to.first), std::min(range.last, to.last)};
		if (part.first <= part.last)
			made.push_back(part);
	}
	return made;
}

} // namespace monitor::filter
