// SPDX-License-Identifier: MIT
// Vectors whose length is known only when the last number has been seen.
#pragma once

#include <cstddef>
#include <vector>

namespace monitor {

// The element of this number, for which the vector grows.
template <class T> T &grow_to(std::vector<T> &all, std::size_t number)
{
	if (number >= all.size())
		all.resize(number + 1);
	return all[number];
}

} // namespace monitor
