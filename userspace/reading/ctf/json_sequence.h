// SPDX-License-Identifier: MIT
// JSON text sequences (RFC 7464), the form of CTF 2 descriptions: one JSON text after each record separator.
//
// Only json_sequence.cpp uses nlohmann's parser. The text is untrusted: depth and number of values are bounded, and one
// fragment is in memory at a time. Throws ParseError, with the position of the fragment and the path of the value in
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse_error.h"

namespace monitor::trace::json {

struct Value {
	enum class Kind : std::uint8_t { null, boolean, integer, real, text, list, object };

	Kind kind = Kind::null;
	bool is_negative = false;       // then `number` is in two's complement
	std::uint64_t number = 0;       // of an integer or a boolean
	std::string text;               // UTF-8
	std::vector<std::string> names; // of an object's values, all different
	std::vector<Value> values;      // of a list or an object
};

// A value and its position. It refers to its parents, which must outlive it.
class Node {
public:
	// A fragment.
	Node(const Value &value, TextPosition position) : value_(&value), position_(position) {}

	const Value &value() const { return *value_; }
	TextPosition position() const { return position_; }
	// "PATH: MESSAGE"
	[[noreturn]] void refuse(const std::string &sentence) const;

	// A member of an object.
	std::optional<Node> find(std::string_view name) const;
	std::optional<Node> find(std::string_view name, Value::Kind kind) const; // refuses one of another kind
	Node at(std::string_view name) const;                                    // refuses if there is none
	// Refuses if the object has any other member.
	void expect_only(std::initializer_list<std::string_view> names,
			 std::initializer_list<std::string_view> more = {}) const;
	// For a list or an object: its elements in order.
	std::size_t size() const { return value_->values.size(); }
	Node element(std::size_t number) const;
	std::vector<Node> elements() const;
	const std::string &name() const { return parent_->value_->names[number_]; } // in the object that it is in

	// Each refuses a value of another kind.
	void expect(Value::Kind kind) const;
	const std::string &text() const;
	std::uint64_t number(std::uint64_t min_value = 0, std::uint64_t max_value = ~std::uint64_t(0)) const;
	std::size_t one_of(std::initializer_list<std::string_view> words) const; // its index

private:
	Node(const Value &value, const Node &parent, std::size_t number)
	    : value_(&value), position_(parent.position_), parent_(&parent), number_(number)
	{
	}
	std::string path() const;

	const Value *value_;
	TextPosition position_;
	const Node *parent_ = nullptr;
	std::size_t number_ = 0; // in its parent
};

// Whether a text is a sequence: it begins with a record separator.
bool is_sequence(std::string_view text);

// Calls `visit` with each fragment, which is an object.
void read_sequence(std::string_view untrusted_text, const std::function<void(const Node &)> &visit);

} // namespace monitor::trace::json
