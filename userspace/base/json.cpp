// SPDX-License-Identifier: MIT
#include "json.h"

#include "escape.h"

namespace monitor {
namespace {

// Checks the nesting before parsing: the library's callback takes time proportional to the enclosing array for each
// value. Text that does not start with an array or object is refused at its first byte.
bool is_too_deep(const std::string &text)
{
	constexpr int max_depth = 64;
	const std::size_t first = text.find_first_not_of(" \t\r\n");
	if (first == text.npos || (text[first] != '{' && text[first] != '['))
		return false;
	int depth = 0;
	bool in_string = false;
	for (std::size_t i = first; i < text.size() && depth <= max_depth; ++i)
		if (const char c = text[i]; c == '"')
			in_string = !in_string;
		else if (c == '\\')
			++i;
		else if (!in_string)
			depth += (c == '[' || c == '{') - (c == ']' || c == '}');
	return depth > max_depth;
}

} // namespace

template <class Json> Json parse_json(const std::string &text)
{
	return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
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
