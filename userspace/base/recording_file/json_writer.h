// SPDX-License-Identifier: MIT
// Writes listed fields (fields.h) as JSON, in their order.
#pragma once

#include <nlohmann/json.hpp>

#include "fields.h"

namespace monitor::recording_file {

class JsonWriter : public Visitor<JsonWriter> {
public:
	using Json = nlohmann::ordered_json;
	static constexpr bool reads = false;

	template <class T> static Json json_of(T &value);

	template <class T> void visit(const char *name, T &value)
	{
		if (Json json = json_of(value); !json.is_null())
			json_[name] = std::move(json);
	}
	template <class T> void visit_if_set(const char *name, T &value)
	{
		T none{};
		if (Json json = json_of(value); json != json_of(none))
			json_[name] = std::move(json);
	}
	void unless_true(const char *name, bool value)
	{
		if (!value)
			json_[name] = false;
	}
	template <class T> void or_null(const char *name, std::optional<T> &value) { json_[name] = json_of(value); }
	template <class T> void or_why_not(const char *name, std::optional<T> &value, const std::string &why_not)
	{
		if (why_not.empty())
			visit(name, value);
		else
			json_[name] = Json{{"why_not", why_not}};
	}
	template <class List> void group(const char *name, List &&list)
	{
		JsonWriter writer;
		list(writer);
		if (!writer.json_.empty())
			json_[name] = std::move(writer.json_);
	}

private:
	Json json_ = Json::object();
};

template <class T> JsonWriter::Json JsonWriter::json_of(T &value)
{
	if constexpr (is_optional<T>) {
		return value ? json_of(*value) : Json();
	} else if constexpr (is_vector<T>) {
		Json all = Json::array();
		for (auto &item : value)
			all.push_back(json_of(item));
		return all;
	} else if constexpr (is_map<T>) {
		constexpr bool is_by_name = std::is_same_v<typename T::key_type, std::string>;
		Json all = is_by_name ? Json::object() : Json::array();
		for (auto &[key, item] : value)
			if constexpr (is_by_name)
				all[key] = json_of(item);
			else
				all.push_back({key, json_of(item)});
		return all;
	} else if constexpr (HasFields<T, JsonWriter>) {
		JsonWriter writer;
		value.fields(writer);
		return std::move(writer.json_);
	} else {
		return Json(value);
	}
}

} // namespace monitor::recording_file
