// SPDX-License-Identifier: MIT
// Reads a value from bytes that need not be aligned.
#pragma once

#include <cstddef>
#include <cstring>

namespace monitor {

template <class T> T load(const std::byte *from)
{
	T value;
	std::memcpy(&value, from, sizeof value);
	return value;
}

} // namespace monitor
