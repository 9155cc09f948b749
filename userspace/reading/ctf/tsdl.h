// SPDX-License-Identifier: MIT
// TSDL, the language of CTF 1.8 descriptions: from text to a syntax tree.
//
// read_description() (interpret.h) gives the tree its meaning (types.h). The tree holds only what the text says and
// where; names are not looked up. The whole grammar of CTF 1.8.3 is accepted (appendix C of the specification,
// https://diamon.org/ctf/v1.8.3/), in the forms that LTTng, barectf, perf and babeltrace2 write and read. The text is
// untrusted: depth, size and number of nodes are bounded, and time is linear in the size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse_error.h"

namespace monitor::trace::tsdl {

struct Value {
	enum class Kind : std::uint8_t { integer, text, word } kind = Kind::integer;
	TextPosition position;
	std::uint64_t magnitude = 0; // of an integer
	bool negative = false;
	std::string text; // of a string literal, or a word such as le or clock.tsc.value, with a dot for each ->
};

// name = value;
struct Attribute {
	TextPosition position;
	std::string name;
	Value value;
};

// "label" = first ... last, resolved to numbers: two's complement where negative
struct Label {
	TextPosition position;
	std::string text;
	std::uint64_t first = 0, last = 0;
	bool is_first_negative = false, is_last_negative = false;
};

struct Declaration;
struct Definition;

struct Type {
	enum class Kind : std::uint8_t { integer, floating_point, string, enumeration, structure, variant, named };
	Kind kind = Kind::named;
	TextPosition position;
	// A named type's words with single spaces (`unsigned long`), a pointer's also with stars (`struct s *`), all
	// without const; for a struct, variant or enum, the word after the keyword, or "".
	std::string name;
	bool has_body = false;               // false: a name, or `struct NAME` and the like, refers to another type
	std::vector<Attribute> attributes;   // of an integer, floating_point or string
	std::shared_ptr<const Type> base;    // of an enumeration: its container, nullptr: int
	std::vector<Label> labels;           // of an enumeration
	std::vector<Declaration> fields;     // of a structure or a variant
	std::vector<Definition> definitions; // in the body of a structure or a variant
	std::string tag;                     // of a variant: the path in < >, or ""
	std::uint64_t align_bits = 0;        // of a structure: align(N), 0: none
};

// [N] or [path.to.field]; its position is that of the bracket
struct Dimension {
	TextPosition position;
	std::uint64_t length = 0;
	std::string path; // of the field with the length; "": `length` is constant
};

// TYPE name; or TYPE name[N][path]; the first dimension is the outermost. `TYPE a, b;` makes two.
struct Declaration {
	TextPosition position;
	std::string name;
	std::shared_ptr<const Type> type;
	std::vector<Dimension> dimensions;
};

// typealias TYPE [N] := name; typedef TYPE name[N]; or, with name "", a declaration of a struct, variant or enum.
struct Definition {
	TextPosition position; // of the name, which follows the type; with name "" that of the type
	std::string name;      // words and * with single spaces between them
	std::shared_ptr<const Type> type;
	std::vector<Dimension> dimensions; // the first is the outermost, as in a Declaration
};

// packet.header := TYPE; in a block
struct Binding {
	TextPosition position;
	std::string name;
	std::shared_ptr<const Type> type;
};

// clock { ... }; and the like. A definition applies only to what follows it: positions give the order.
struct Block {
	TextPosition position;
	std::string keyword;
	std::vector<Attribute> attributes;
	std::vector<Definition> definitions;
	std::vector<Binding> bindings;
};

struct Tree {
	std::vector<Definition> definitions;
	std::vector<Block> blocks;
	// The first reserved word (C.1.2) that is used as a name. The grammar forbids it, but nothing is ambiguous:
	// monitor's own recordings may have them.
	std::optional<ParseError> reserved_name;
};

// Throws ParseError.
Tree parse(std::string_view untrusted_text);

} // namespace monitor::trace::tsdl
