// SPDX-License-Identifier: MIT
// Parses JSON that others may have written and prints JSON that holds their text. Used wherever a file of a trace or a
// table is read, and wherever JSON is printed. For nlohmann::json and ordered_json, compiled once: json.cpp.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace monitor {

// A discarded value if it is not JSON, or nested too deeply (printing and freeing recurse).
template <class Json = nlohmann::json> Json parse_json(const std::string &text);

// As text, on one line or indented. Control characters are escaped, what is not UTF-8 is replaced.
template <class Json> std::string json_dump(const Json &json, int indent = -1);

template <class Value> nlohmann::ordered_json or_null(const std::optional<Value> &value)
{
	return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

} // namespace monitor
