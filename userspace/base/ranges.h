// SPDX-License-Identifier: MIT
// Lists and sums of what the elements of a range say. `of` is a function of an element, or a member of it.
#pragma once

#include <functional>
#include <ranges>
#include <vector>

namespace monitor {

template <class Value, class Range, class Of = std::identity> std::vector<Value> list_of(Range &&range, Of of = {})
{
	std::vector<Value> values;
	if constexpr (std::ranges::sized_range<Range>)
		values.reserve(std::ranges::size(range));
	for (auto &&element : range)
		values.emplace_back(std::invoke(of, element));
	return values;
}

template <class Value, class Range, class Of = std::identity> Value sum_of_all(const Range &range, Of of = {})
{
	Value sum = 0;
	for (const auto &element : range)
		sum += std::invoke(of, element);
	return sum;
}

} // namespace monitor
