// SPDX-License-Identifier: MIT
// Reads listed fields (fields.h) from JSON that may be missing, damaged or foreign: a value that is missing, or of
// another type or out of range, is zero or empty, and an optional one has no value. Never throws.
#pragma once

#include "base/untrusted_json.h"
#include "fields.h"

namespace monitor::recording_file {

class JsonReader : public Visitor<JsonReader> {
public:
	using Json = nlohmann::json;

	explicit JsonReader(const Json &untrusted) : json_(untrusted) {}

	template <class T> static T value_of(const Json &untrusted);

	template <class T> void visit(const char *name, T &value)
	{
		value = value_of<T>(untrusted_json::member(json_, name));
	}
	template <class T> void visit_required(const char *name, T &value)
	{
		visit(name, value);
		is_damaged_ |= !is_of_type<T>(untrusted_json::member(json_, name));
	}
	void unless_true(const char *name, bool &value)
	{
		const Json &json = untrusted_json::member(json_, name);
		value = json.is_null() || untrusted_json::flag(json);
	}
	template <class T> void or_why_not(const char *name, std::optional<T> &value, std::string &why_not)
	{
		const Json &json = untrusted_json::member(json_, name);
		why_not = untrusted_json::text(untrusted_json::member(json, "why_not"));
		if (!json.contains("why_not"))
			visit(name, value);
	}
	template <class List> void group(const char *name, List &&list)
	{
		JsonReader reader(untrusted_json::member(json_, name));
		list(reader);
	}

private:
	template <class T> static bool is_of_type(const Json &json);
	template <class T> static bool is_in_range(const Json &json);

	const Json &json_;
	bool is_damaged_ = false;
};

// Whether an integer fits into T.
template <class T> bool JsonReader::is_in_range(const Json &json)
{
	if (json.is_number_unsigned())
		return std::in_range<T>(json.get<std::uint64_t>());
	return json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
}

template <class T> bool JsonReader::is_of_type(const Json &json)
{
	if constexpr (std::is_same_v<T, bool>)
		return json.is_boolean();
	else if constexpr (std::is_integral_v<T>)
		return is_in_range<T>(json);
	else if constexpr (std::is_floating_point_v<T>)
		return json.is_number();
	else if constexpr (std::is_same_v<T, std::string>)
		return json.is_string();
	else if constexpr (is_vector<T>)
		return json.is_array();
	else
		return json.is_object();
}

template <class T> T JsonReader::value_of(const Json &untrusted)
{
	T value{};
	if constexpr (is_optional<T>) {
		using Value = typename T::value_type;
		if (is_of_type<Value>(untrusted))
			value = value_of<Value>(untrusted);
	} else if constexpr (is_vector<T>) {
		if (untrusted.is_array())
			for (const Json &item : untrusted)
				value.push_back(value_of<typename T::value_type>(item));
	} else if constexpr (is_map<T>) {
		using Key = typename T::key_type;
		using Value = typename T::mapped_type;
		if constexpr (std::is_same_v<Key, std::string>) {
			if (untrusted.is_object())
				for (const auto &[key, item] : untrusted.items())
					value[key] = value_of<Value>(item);
		} else if (untrusted.is_array()) {
			for (const Json &pair : untrusted)
				if (pair.is_array() && pair.size() == 2 && is_of_type<Key>(pair[0]))
					value[value_of<Key>(pair[0])] = value_of<Value>(pair[1]);
		}
	} else if constexpr (HasFields<T, JsonReader>) {
		JsonReader reader(untrusted);
		value.fields(reader);
		if constexpr (requires { value.is_damaged; })
			value.is_damaged = reader.is_damaged_;
	} else if (is_of_type<T>(untrusted)) {
		value = untrusted.get<T>();
	}
	return value;
}

} // namespace monitor::recording_file
