// SPDX-License-Identifier: MIT
// Lists of fields: each part of .monitor/recording.json is a struct, whose `fields` lists its members once, by their
// names in the file, for all visitors: json_writer.h, json_reader.h, and the round-trip test.
//
//     void fields(auto &v) { v("number", number, "ticks", ticks); }
//
// Members are integers, doubles, bools, strings, structs with such a list, and vectors, maps and optionals of these. An
// optional without a value is not written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace monitor::recording_file {

// The ways in which members can be listed. Self::visit(name, value) visits one; Self may override the conditional ways
// below.
template <class Self> class Visitor {
public:
	// Whether all members are visited; else only those that have a value.
	static constexpr bool reads = true;

	template <class... Fields> void operator()(Fields &...names_and_values) { (one(names_and_values), ...); }
	// Written unless they are zero or empty.
	template <class... Fields> void if_set(Fields &...names_and_values) { (one_if_set(names_and_values), ...); }
	// If one of these is not a number, sets the object's `is_damaged`.
	template <class... Fields> void required(Fields &...names_and_values) { (one_required(names_and_values), ...); }
	// Written only if false; missing means true.
	void unless_true(const char *name, bool &value) { self().visit(name, value); }
	// Written as null if it has no value.
	template <class T> void or_null(const char *name, std::optional<T> &value) { self().visit(name, value); }
	// The value, or an object that says why there is none.
	template <class T> void or_why_not(const char *name, std::optional<T> &value, std::string &)
	{
		self().visit(name, value);
	}
	// An enumerator as a word; an unknown word means the last one.
	template <class Enum, std::size_t count>
	void word(const char *name, Enum &value, const char *const (&words)[count])
	{
		std::string text = words[static_cast<std::size_t>(value)];
		self().visit(name, text);
		const auto last = std::end(words) - 1;
		value = static_cast<Enum>(std::find(std::begin(words), last, text) - std::begin(words));
	}
	// An object whose fields are members of the struct itself.
	template <class List> void group(const char *, List &&list) { list(self()); }

	template <class T> void visit_if_set(const char *name, T &value) { self().visit(name, value); }
	template <class T> void visit_required(const char *name, T &value) { self().visit(name, value); }

private:
	Self &self() { return static_cast<Self &>(*this); }

	void one(const char *name) { name_ = name; }
	void one_if_set(const char *name) { name_ = name; }
	void one_required(const char *name) { name_ = name; }
	template <class T> void one(T &value) { self().visit(name_, value); }
	template <class T> void one_if_set(T &value) { self().visit_if_set(name_, value); }
	template <class T> void one_required(T &value) { self().visit_required(name_, value); }

	const char *name_ = nullptr; // of the next value
};

template <class T, class Visitor>
concept HasFields = requires(T &value, Visitor &v)
{
	value.fields(v);
};

template <class T> constexpr bool is_optional = false;
template <class T> constexpr bool is_optional<std::optional<T>> = true;
template <class T> constexpr bool is_vector = false;
template <class T> constexpr bool is_vector<std::vector<T>> = true;
// By name, an object; by number, an array of pairs.
template <class T> constexpr bool is_map = false;
template <class Key, class T> constexpr bool is_map<std::map<Key, T>> = true;

// A value at the start and at the end.
template <class T> struct AtBothEnds {
	T start{}, end{};

	void fields(auto &v) { v.if_set("start", start, "end", end); }
};

} // namespace monitor::recording_file
