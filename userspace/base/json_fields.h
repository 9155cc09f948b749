// SPDX-License-Identifier: MIT
// Fields of a JSON object that others may have written: of the expected type and size, or none. Never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace monitor {

// Null if there is none, or the value is not an object.
template <class Json> const Json *json_field(const Json &untrusted_object, const char *name)
{
	if (!untrusted_object.is_object())
		return nullptr;
	const auto found = untrusted_object.find(name);
	return found == untrusted_object.end() ? nullptr : &*found;
}

// The field, to loop over it; empty if there is none of this type.
template <class Json> const Json &object_field(const Json &untrusted_object, const char *name)
{
	static const Json none = Json::object();
	const Json *field = json_field(untrusted_object, name);
	return field && field->is_object() ? *field : none;
}

template <class Json> const Json &array_field(const Json &untrusted_object, const char *name)
{
	static const Json none = Json::array();
	const Json *field = json_field(untrusted_object, name);
	return field && field->is_array() ? *field : none;
}

template <class Json>
std::optional<std::string> text_field(const Json &untrusted_object, const char *name,
				      std::size_t max_bytes = std::string::npos)
{
	const Json *field = json_field(untrusted_object, name);
	if (!field || !field->is_string() || field->template get_ref<const std::string &>().size() > max_bytes)
		return {};
	return field->template get<std::string>();
}

template <class Json>
std::optional<std::uint64_t> number_field(const Json &untrusted_object, const char *name, std::uint64_t max = INT64_MAX)
{
	const Json *field = json_field(untrusted_object, name);
	if (!field || !field->is_number_integer() ||
	    (!field->is_number_unsigned() && field->template get<std::int64_t>() < 0) ||
	    field->template get<std::uint64_t>() > max)
		return {};
	return field->template get<std::uint64_t>();
}

template <class Json> bool flag_field(const Json &untrusted_object, const char *name)
{
	const Json *field = json_field(untrusted_object, name);
	return field && field->is_boolean() && field->template get<bool>();
}

// Two numbers, the second not below the first.
template <class Json> bool read_pair(const Json &untrusted, std::pair<std::uint64_t, std::uint64_t> &pair)
{
	if (!untrusted.is_array() || untrusted.size() != 2 || !untrusted[0].is_number_unsigned() ||
	    !untrusted[1].is_number_unsigned())
		return false;
	pair = {untrusted[0].template get<std::uint64_t>(), untrusted[1].template get<std::uint64_t>()};
	return pair.first <= pair.second;
}

template <class Json>
std::optional<std::vector<std::string>> texts_field(const Json &untrusted_object, const char *name,
						    std::size_t max_texts, std::size_t max_bytes)
{
	const Json *field = json_field(untrusted_object, name);
	if (!field || !field->is_array() || field->size() > max_texts)
		return {};
	std::vector<std::string> texts;
	for (const Json &text : *field) {
		if (!text.is_string() || text.template get_ref<const std::string &>().size() > max_bytes)
			return {};
		texts.push_back(text.template get<std::string>());
	}
	return texts;
}

} // namespace monitor
