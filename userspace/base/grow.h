// SPDX-License-Identifier: MIT
// Vectors that grow on access, as their length is not known in advance.
#pragma once

#include <cstddef>
#include <vector>

namespace monitor {

// The element at this index; the vector grows to include it.
template <class T> T &grow_to(std::vector<T> &all, std::size_t index)
{
	if (index >= all.size())
		all.resize(index + 1);
	return all[index];
}

} // namespace monitor
