// SPDX-License-Identifier: MIT
// Values of untrusted JSON: a default if missing or of another type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "json.h"

namespace monitor::untrusted_json {

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

inline std::string text(const Json &value)
{
	return value.is_string() ? value.get<std::string>() : std::string();
}

inline bool flag(const Json &value)
{
	return value.is_boolean() && value.get<bool>();
}

} // namespace monitor::untrusted_json
