// SPDX-License-Identifier: MIT
// The types of a description: what a name means in each scope, and the field classes made from it.
//
// The interpretation opens scopes, defines names in the order of the text, and makes the field classes of headers,
// contexts and events. A field class is made anew for every use, as lengths and tags refer to different fields in
// different places (references.h). Throws ParseError for input that makes no sense. Invariant: the result has
// FieldClass's invariants, except for the slots, which references.h assigns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attributes.h"
#include "field_class.h"
#include "tsdl.h"

namespace monitor::trace {

// Limits for any description.
inline constexpr std::uint64_t max_align_bits = 4096, max_integer_bits = 4096, max_fixed_bits = std::uint64_t(1) << 40;
inline constexpr std::size_t max_type_nodes = 2'000'000;

// The names in one pair of braces; look-up goes outwards. A tagged type's name begins with its keyword.
class Scope {
public:
	explicit Scope(const Scope *outer = nullptr) : outer_(outer) {}
	// False: the scope already has this name.
	bool add(const std::string &name, FieldClass type) { return types_.emplace(name, std::move(type)).second; }
	const FieldClass *find(const std::string &name) const;

private:
	const Scope *outer_;
	std::map<std::string, FieldClass> types_;
};

class Types {
public:
	// `warnings` gets what is ignored.
	explicit Types(Warnings &warnings) : warnings_(warnings) {}
	// Called before the first type is made.
	void set_big_endian(bool big_endian) { big_endian_ = big_endian; }
	// Clocks that integers may be mapped to; their order gives FieldClass::clock.
	void add_clock(const std::string &name) { clocks_.push_back(name); }

	// typealias, typedef, or the declaration of a tagged type.
	void define(const tsdl::Definition &definition, Scope &scope);
	// Also adds the tagged type that `type` may declare to the scope.
	FieldClass make(const tsdl::Type &type, Scope &scope, const std::vector<tsdl::Dimension> &dimensions = {});

private:
	FieldClass make_plain(const tsdl::Type &type, Scope &scope);
	FieldClass named(const tsdl::Type &type, const Scope &scope);
	FieldClass tagged(const tsdl::Type &type, const char *keyword, Scope &scope);
	FieldClass body_of(const tsdl::Type &type, Scope &scope);
	FieldClass integer(const tsdl::Type &type);
	void set_attribute(FieldClass &made, const tsdl::Attribute &attribute);
	FieldClass floating_point(const tsdl::Type &type);
	FieldClass string(const tsdl::Type &type);
	FieldClass enumeration(const tsdl::Type &type, Scope &scope);
	FieldClass compound(const tsdl::Type &type, Scope &scope);
	FieldClass array_of(FieldClass element, const tsdl::Dimension &dimension);
	bool byte_order(const tsdl::Value &value) const;
	const FieldClass &count_nodes(const FieldClass &made, TextPosition position);

	Warnings &warnings_;
	bool big_endian_ = false;
	std::vector<std::string> clocks_;
	std::size_t nodes_ = 0;
};

// Integers beyond 64 bits are arrays of bytes, or of bits if they have no whole bytes, in file order.
FieldClass wide_integer(FieldClass made);

// Values of attributes; rejects values of other kinds.
std::uint64_t number(const tsdl::Value &value);
std::int64_t signed_number(const tsdl::Value &value);
// Not empty and without control characters.
std::string name_of(const tsdl::Value &value);
// Rejects values that are not a byte order.
bool is_big_endian(const tsdl::Value &value);

} // namespace monitor::trace
