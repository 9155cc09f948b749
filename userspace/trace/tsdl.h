// SPDX-License-Identifier: MIT
// TSDL, the language of CTF 1.8 descriptions: from text to a syntax tree.
//
// Called by read_description() (interpret.h), which gives the tree its meaning. The tree says only what stands in the
// text and where; whether a reader can do something with it is not decided here. The text is untrusted: depth, size and
// number of nodes are bounded, and time is linear in the size. What the grammar has but no reader of ours takes yet
// (variant, sequence, string, floating_point) is refused here.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace monitor::trace::tsdl {

struct Position {
	std::uint32_t line = 1, column = 1;
};

// Thrown by parse() and by the interpretation, caught in read_description(); never leaves this library.
class Refusal : public std::runtime_error {
public:
	Refusal(Position position, const std::string &sentence) : std::runtime_error(sentence), position_(position) {}
	Position position() const { return position_; }

private:
	Position position_;
};

struct Value {
	enum class Kind : std::uint8_t { integer, text, word } kind = Kind::integer;
	Position position;
	std::uint64_t magnitude = 0; // of an integer
	bool negative = false;
	std::string text; // of a string literal, or a word such as le or clock.tsc.value
};

// name = value;
struct Attribute {
	Position position;
	std::string name;
	Value value;
};

// "label" = first ... last, resolved to numbers: two's complement where negative
struct Label {
	Position position;
	std::string text;
	std::uint64_t first = 0, last = 0;
};

struct Declaration;

struct Type {
	enum class Kind : std::uint8_t { integer, enumeration, structure, named } kind = Kind::named;
	Position position;
	std::string name;                  // of a named type
	std::vector<Attribute> attributes; // of an integer
	std::shared_ptr<const Type> base;  // of an enumeration: its container
	std::vector<Label> labels;         // of an enumeration
	std::vector<Declaration> fields;   // of a structure
	std::uint64_t align_bits = 1;      // of a structure: align(N)
};

// TYPE name; or TYPE name[N];
struct Declaration {
	Position position;
	std::string name;
	std::shared_ptr<const Type> type;
	bool is_array = false;
	std::uint64_t array_length = 0;
};

// packet.header := TYPE; in a block, or typealias TYPE := name; (in the tree's order)
struct Binding {
	Position position;
	std::string name;
	std::shared_ptr<const Type> type;
};

// clock { ... }; and its like
struct Block {
	Position position;
	std::string keyword;
	std::vector<Attribute> attributes;
	std::vector<Binding> bindings;
};

struct Tree {
	std::vector<Binding> aliases;
	std::vector<Block> blocks;
};

inline constexpr std::size_t max_text_bytes = 16u << 20;

// Throws Refusal.
Tree parse(std::string_view untrusted_text);

} // namespace monitor::trace::tsdl
