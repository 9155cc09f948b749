// SPDX-License-Identifier: MIT
// A description in TDL as written: blocks of fields, and statements about them.
//
// Made by parse() (parser.h), given its meaning by compile() (compile.h), printed by show.h. Names are not looked up
// yet; every part has its position, so that errors can be reported with line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lexer.h"

namespace monitor::trace::tdl {

// A word of the text and its position; "" if absent.
struct Name {
	TextPosition position;
	std::string text;

	explicit operator bool() const { return !text.empty(); }
};

// The unit of a field's values: for a time, units per second; for a size, bits per unit.
struct Unit {
	std::string name; // "": none
	std::uint64_t per_second = 0, bits = 0;
};

// A number, or FIELD times N plus N; the context says which quantity.
struct Amount {
	TextPosition position;
	Name field; // "": only the number in `plus`
	std::uint64_t times = 1;
	std::int64_t plus = 0;
};

// A number, or the name of one.
struct Constant {
	Name name;
	std::uint64_t number = 0;
	bool is_negative = false;
};

struct Condition {
	enum class Relation : std::uint8_t { is, is_not, at_least, at_most, has, lacks } relation = Relation::is;
	Name field;
	std::vector<Constant> values;
};

enum class Checksum : std::uint8_t { none, sum8, sum16, sum32, xor8, crc32 };

struct Field {
	enum class Type : std::uint8_t { integer, real, text, block, list };
	// How the length of a field that is not a scalar is given.
	enum class Extent : std::uint8_t { amount, until_zero, to_end };

	Type type = Type::integer;
	bool is_signed = false;
	std::uint32_t bits = 8; // of an integer or a real, or of a list's elements
	bool is_real_list = false;
	Extent extent = Extent::amount;
	Amount amount;
	std::optional<bool> big_endian; // if empty, as in the description
	std::uint8_t base = 10;
	bool is_hidden = false;
	Unit unit;
	Name names;
	std::optional<std::uint64_t> always;
	Checksum checksum = Checksum::none;
	Name first, last; // range of a checksum; "": all before it
};

// An item of a block, in the order of the bytes.
struct Item {
	enum class Kind : std::uint8_t { field, when, group, filler, filler_to } kind = Kind::field;
	TextPosition position;
	std::string name, meaning;         // of a field or a group
	Field field;                       // for padding: a block of bytes, or an integer constant
	std::vector<Condition> conditions; // of a `when`: all must hold
	std::vector<Item> items;           // of a `when` or a group
	std::uint64_t multiple_bytes = 0;  // of a filler_to
	bool is_repeated = false;          // of a group; the count is the field's extent
};

struct Time {
	enum class Origin : std::uint8_t { epoch, boot, first, segment, before } origin = Origin::first;
	TextPosition position;
	std::vector<Name> parts; // summands
	bool wraps = false, may_step_back = false;
};

struct Size {
	Amount amount;
	bool has_unit = false; // `bits` or `bytes` was given; else the field's own unit, or bytes
	std::uint64_t unit_bits = 8;
	std::uint64_t multiple_bytes = 1; // rounded up to a multiple of this
};

struct Block {
	TextPosition position;
	std::string name, meaning;         // of a record
	std::vector<Condition> conditions; // of a record
	std::vector<Item> items;
	std::optional<Size> length, content;
	std::optional<Time> time;
	Name cpu, begin, end, lost, number;
};

struct Label {
	TextPosition position;
	bool is_bit = false;
	std::uint64_t first = 0, last = 0; // for a bit: its number
	bool is_negative = false;
	std::string text, meaning;
};

struct Names {
	TextPosition position;
	std::string name, meaning;
	std::vector<Label> labels;

	bool is_flags() const { return !labels.empty() && labels.front().is_bit; }
};

// Bytes that identify a kind of file, and what they change.
struct Magic {
	TextPosition position;
	std::string bytes;
	std::uint64_t at_byte = 0;
	std::optional<bool> big_endian;
	std::vector<std::pair<Name, Unit>> units; // of fields
};

struct Model {
	std::string name, meaning;
	bool big_endian = false;
	std::vector<Magic> magics;
	std::optional<Block> file, segment, common; // headers of the file, of segments and of records
	std::vector<Block> records;
	std::vector<Names> names;
};

} // namespace monitor::trace::tdl
