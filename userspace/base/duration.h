// SPDX-License-Identifier: MIT
// Durations as given in options and triggers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "error.h"

namespace monitor {

// "-1.5ms", "2 s": nanoseconds; nullopt: not a duration.
inline std::optional<std::int64_t> ns_of(const std::string &text)
{
	char *unit;
	const double value = std::strtod(text.c_str(), &unit);
	const bool is_number = unit != text.c_str();
	unit += is_number && *unit == ' ';
	const std::pair<const char *, double> units[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
							 {"m", 6e10}, {"h", 3.6e12}, {"d", 8.64e13}};
	for (const auto &[name, factor] : units)
		if (std::string_view(unit) == name && is_number && std::abs(value * factor) < 1e18)
			return std::llround(value * factor);
	return value == 0 && is_number && *unit == '\0' ? std::optional<std::int64_t>(0) : std::nullopt;
}

// Of either sign, or "0". Throws Error.
inline std::int64_t parse_offset(const std::string &text, const char *option)
{
	if (const auto ns = ns_of(text))
		return *ns;
	throw Error("{}: '{}' is not an offset, such as -1.5ms", option, text);
}

// Above 0. Throws Error.
inline std::uint64_t parse_duration(const std::string &text, const char *option)
{
	if (const auto ns = ns_of(text); ns && *ns > 0)
		return static_cast<std::uint64_t>(*ns);
	throw Error("{}: '{}' is not a duration, such as 100ms", option, text);
}

} // namespace monitor
