// SPDX-License-Identifier: MIT
#include "json.h"

#include "escape.h"

namespace monitor {

template <class Json> Json parse_json(const std::string &text)
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

template <class Json> std::string json_dump(const Json &json, int indent)
{
	return escaped(json.dump(indent, indent < 0 ? ' ' : '\t', false, Json::error_handler_t::replace),
		       Escape::dumped);
}

template nlohmann::json parse_json(const std::string &);
template nlohmann::ordered_json parse_json(const std::string &);
template std::string json_dump(const nlohmann::json &, int);
template std::string json_dump(const nlohmann::ordered_json &, int);

} // namespace monitor
