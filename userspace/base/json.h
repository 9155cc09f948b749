// SPDX-License-Identifier: MIT
// JSON that others may have written. Used wherever a file of a trace or a table is read.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace monitor {

// Discarded if it is no JSON, or nested deeper than anything of ours: printing and freeing such a value recurses.
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

} // namespace monitor
