// SPDX-License-Identifier: MIT
// Values of a file that may be missing, damaged or foreign: a value that is missing, or of another type, has its
// default. Used by recording_info.cpp and counters_info.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace monitor::analyze {

using Json = nlohmann::json;

inline const Json &member(const Json &object, const char *name)
{
	static const Json none;
	if (!object.is_object())
		return none;
	const auto found = object.find(name);
	return found == object.end() ? none : *found;
}

inline std::uint64_t number(const Json &value)
{
	if (value.is_number_unsigned())
		return value.get<std::uint64_t>();
	return value.is_number_integer()
		   ? static_cast<std::uint64_t>(std::max<std::int64_t>(value.get<std::int64_t>(), 0))
		   : 0;
}

inline std::int64_t integer(const Json &value)
{
	return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

inline std::optional<std::uint64_t> optional_number(const Json &value)
{
	return value.is_number_integer() ? std::optional(number(value)) : std::nullopt;
}

inline std::string text(const Json &value)
{
	return value.is_string() ? value.get<std::string>() : std::string();
}

inline bool flag(const Json &value)
{
	return value.is_boolean() && value.get<bool>();
}

inline std::vector<std::string> texts(const Json &value)
{
	std::vector<std::string> all;
	if (value.is_array())
		for (const Json &item : value)
			all.push_back(text(item));
	return all;
}

inline std::map<std::string, std::uint64_t> numbers(const Json &value)
{
	std::map<std::string, std::uint64_t> all;
	if (value.is_object())
		for (const auto &[name, item] : value.items())
			all[name] = number(item);
	return all;
}

} // namespace monitor::analyze
