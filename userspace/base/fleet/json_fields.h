// SPDX-License-Identifier: MIT
// Fields of a JSON object that arrived from the network: of the expected type and size, or none.
// Used by the parsers of messages (control.cpp, answer.cpp). Never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace monitor::fleet {

inline const nlohmann::json *json_field(const nlohmann::json &untrusted_object, const char *name)
{
	if (!untrusted_object.is_object())
		return nullptr;
	const auto found = untrusted_object.find(name);
	return found == untrusted_object.end() ? nullptr : &*found;
}

inline std::optional<std::string> text_field(const nlohmann::json &untrusted_object, const char *name,
					     std::size_t max_bytes)
{
	const nlohmann::json *field = json_field(untrusted_object, name);
	if (!field || !field->is_string() || field->get_ref<const std::string &>().size() > max_bytes)
		return {};
	return field->get<std::string>();
}

// From 0 to 2^63 - 1.
inline std::optional<std::uint64_t> number_field(const nlohmann::json &untrusted_object, const char *name)
{
	const nlohmann::json *field = json_field(untrusted_object, name);
	if (!field || !field->is_number_integer() || field->get<std::int64_t>() < 0)
		return {};
	return static_cast<std::uint64_t>(field->get<std::int64_t>());
}

inline bool flag_field(const nlohmann::json &untrusted_object, const char *name)
{
	const nlohmann::json *field = json_field(untrusted_object, name);
	return field && field->is_boolean() && field->get<bool>();
}

inline std::optional<std::vector<std::string>> texts_field(const nlohmann::json &untrusted_object, const char *name,
							   std::size_t max_texts, std::size_t max_bytes)
{
	const nlohmann::json *field = json_field(untrusted_object, name);
	if (!field || !field->is_array() || field->size() > max_texts)
		return {};
	std::vector<std::string> texts;
	for (const nlohmann::json &text : *field) {
		if (!text.is_string() || text.get_ref<const std::string &>().size() > max_bytes)
			return {};
		texts.push_back(text.get<std::string>());
	}
	return texts;
}

} // namespace monitor::fleet
