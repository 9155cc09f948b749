// SPDX-License-Identifier: MIT
// Durations as given in options and triggers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "error.h"

namespace monitor {

// "-1.5ms", "+2s", "0": nanoseconds, of either sign. Throws Error.
inline std::int64_t parse_offset(const std::string &text, const char *option)
{
	char *unit;
	const double value = std::strtod(text.c_str(), &unit);
	const std::pair<const char *, double> units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	if (value == 0 && *unit == '\0' && unit != text.c_str())
		return 0;
	for (const auto &[name, factor] : units)
		if (std::string_view(unit) == name && unit != text.c_str() && std::abs(value * factor) < 1e18)
			return static_cast<std::int64_t>(std::llround(value * factor));
	throw Error(fmt::format("{}: '{}' is not an offset, such as -1.5ms", option, text));
}

// "100ms", "2s": nanoseconds. Throws Error.
inline std::uint64_t parse_duration(const std::string &text, const char *option)
{
	char *unit;
	const double value = std::strtod(text.c_str(), &unit);
	const std::pair<const char *, double> units[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
							 {"m", 6e10}, {"h", 3.6e12}, {"d", 8.64e13}};
	for (const auto &[name, factor] : units)
		if (std::string_view(unit) == name && value * factor >= 1 && value * factor < 1e18)
			return static_cast<std::uint64_t>(value * factor);
	throw Error(fmt::format("{}: '{}' is not a duration, such as 100ms", option, text));
}

} // namespace monitor
