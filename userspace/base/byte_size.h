// SPDX-License-Identifier: MIT
// Sizes as given in options.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <exception>
#include <string>

#include "error.h"

namespace monitor {

// "64M", "1G", "4096": bytes. Throws Error.
inline std::uint64_t parse_bytes(const std::string &text, const char *option)
{
	std::size_t used = 0;
	double value = -1;
	try {
		value = std::stod(text, &used);
	} catch (const std::exception &) {
	}
	std::string unit = text.substr(std::min(used, text.size()));
	if (unit.ends_with("iB"))
		unit.resize(unit.size() - 2);
	else if (unit.ends_with("B"))
		unit.resize(unit.size() - 1);
	const std::size_t power =
	    unit.empty() ? 0 : std::string("kmgt").find(static_cast<char>(std::tolower(unit[0]))) + 1;
	if (!(value > 0) || unit.size() > 1 || (!unit.empty() && power == 0) || value > 1e15)
		throw Error("{}: '{}' is not a size, such as 64M", option, text);
	for (std::size_t i = 0; i < power; ++i)
		value *= 1024;
	if (value >= 0x1p63)
		throw Error("{}: {} is more than any machine has", option, text);
	return static_cast<std::uint64_t>(value);
}

} // namespace monitor
