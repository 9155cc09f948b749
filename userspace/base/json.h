// SPDX-License-Identifier: MIT
// Parses JSON that others may have written and prints JSON that holds their text. Used wherever a file of a trace or a
// table is read, and wherever JSON is printed.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "escape.h"

namespace monitor {

// Discarded if it is not JSON, or nested deeper than any of ours: printing and freeing such a value recurses.
template <class Json = nlohmann::json> Json parse_json(const std::string &text)
{
	constexpr int deepest = 64;
	bool too_deep = false;
	const auto look = [&](int depth, auto, auto &) {
		too_deep |= depth > deepest;
		return !too_deep;
	};
	Json json = Json::parse(text, look, false);
	return too_deep ? Json(Json::value_t::discarded) : json;
}

// As text, on one line or indented.
template <class Json> std::string json_dump(const Json &json, int indent = -1)
{
	return escaped(json.dump(indent, indent < 0 ? ' ' : '\t', false, Json::error_handler_t::replace),
		       Escape::dumped);
}

} // namespace monitor
