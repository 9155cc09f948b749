// SPDX-License-Identifier: MIT
// The types of a description: integers, enumerations, structs, their names, and where a struct's fields come to lie.
//
// Used by the interpretation (interpret.cpp) only: it defines the aliases in the order of the text, then lays out the
// packet header, the tokens and every event class. Refuses (tsdl::Refusal) what the reader does not decode.
// Invariant: a laid out field has 1 to 64 bits, or is an array of 1 to 4096 bytes; offsets grow from field to field.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "description.h"
#include "tsdl.h"

namespace monitor::trace {

// An integer type, an enumeration of it, or 8 bits of text.
struct Integer {
	std::uint32_t size_bits = 0;
	std::uint32_t align_bits = 0;
	bool is_signed = false;
	bool is_text = false;
	std::uint8_t base = 10;
	std::string clock; // that it is mapped to
	std::shared_ptr<const Enumeration> labels;
};

struct Placed {
	const tsdl::Declaration *declaration;
	Integer type;
	std::uint64_t offset_bits;
};

class Types {
public:
	// The clock that integers may be mapped to.
	void set_clock(const std::string &name) { clock_ = name; }
	// typealias: the type may use what was defined before. The tree must outlive this.
	void define(const tsdl::Binding &alias);

	// The struct that a type is or is an alias of.
	const tsdl::Type &structure(const tsdl::Type &type) const;
	// Places the fields of a struct at or after offset_bits, which moves to the struct's end.
	std::vector<Placed> lay_out(const tsdl::Type &type, std::uint64_t &offset_bits) const;

private:
	struct Named {
		std::optional<Integer> integer;
		const tsdl::Type *structure = nullptr;
	};

	Integer integer(const tsdl::Type &type) const;
	Integer plain_integer(const tsdl::Type &type) const;
	void set_attribute(Integer &made, const tsdl::Attribute &attribute) const;
	Integer enumeration(const tsdl::Type &type) const;

	std::string clock_;
	std::unordered_map<std::string, Named> aliases_;
};

// Values of attributes; each refuses a value of another kind.
std::uint64_t number(const tsdl::Value &value);
std::int64_t signed_number(const tsdl::Value &value);
// Not empty and without control characters.
std::string name_of(const tsdl::Value &value);
void check_little_endian(const tsdl::Value &value);
std::uint64_t round_up(std::uint64_t value, std::uint64_t align);

} // namespace monitor::trace
