// SPDX-License-Identifier: MIT
// The type of a field in a generic CTF trace: an integer, a float, text, or something made of fields; and how its bits
// are read.
//
// Made by Types (types.h), by JsonTypes (json_types.h) or by the TDL compiler (reading/tdl/compile.h) from the
// description, one tree for every place that uses it; the layouts (layout.h) walk it to find where an event ends,
// FieldRef (reading/events/field_ref.h) to find a field, the listing to print it. Immutable once the description is
// read, so any number of threads may use it. All bytes are untrusted: every function here takes a View and reads
// nothing outside it. Invariants: scalars have 1 to 64 bits; an alignment is a power of two; a slot is below the
// layout's number of slots; a field that a length or a tag names is saved into its slot before that length or tag is
// needed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/load.h"
#include "enumeration.h"
#include "tsdl.h"

namespace monitor::trace {

struct FieldClass;
struct Member;

// The first slot has the remaining budget of a walk: elements of size 0 could otherwise be passed forever.
inline constexpr std::int32_t budget_slot = 0;
// Its initial values: elements of a packet's or record's header and context, and of an event.
inline constexpr std::uint64_t head_budget = 1u << 16, event_budget = 1u << 20;

// The field that holds a sequence's length or a variant's tag, as the description names it; "" if there is none.
struct Reference {
	std::string path;
	TextPosition position;

	// The same in CTF 2, as steps: names of members; nullopt: the enclosing structure.
	std::vector<std::optional<std::string>> steps = {};
	std::int8_t scope = -1;       // number of the root of the steps; -1: the field's own structure
	bool has_boolean_tag = false; // of an optional without ranges: the tag is a boolean value
	bool has_negative = false;    // in its ranges, or those of its options
	bool has_large = false;       // beyond the largest signed integer
};

struct LabelRange {
	std::uint64_t first, last;
};

// A name for some bits of an integer.
struct Flag {
	std::string name;
	std::uint64_t bits; // it holds if any of these is set
};

enum class Encoding : std::uint8_t { utf8, utf16le, utf16be, utf32le, utf32be };

// Values allowed for an integer: under the mask, one of these.
struct ValueTest {
	std::uint64_t mask = ~std::uint64_t(0);
	std::vector<LabelRange> values;

	bool accepts(std::uint64_t value) const
	{
		for (const LabelRange &range : values)
			if ((value & mask) - range.first <= range.last - range.first)
				return true;
		return false;
	}
};

// FieldClass::base of an IPv4 address: 127.0.0.1. Only TDL has it.
inline constexpr std::uint8_t dotted_base = 4;

struct FieldClass {
	enum class Kind : std::uint8_t {
		integer,
		varint, // an integer in LEB128: seven bits of the value per byte, of variable length
		floating_point,
		string,
		structure,
		array,
		sequence,
		variant,
		optional
	};

	// A condition for optionals: all of these accept the slots' values. Shared by fields.
	struct Presence {
		std::int32_t slot = -1;
		ValueTest test;
	};
	using Presences = std::shared_ptr<const std::vector<Presence>>;

	Kind kind = Kind::integer;
	bool is_signed = false;
	bool big_endian = false;
	bool is_reversed = false; // an integer or a float whose bits are in the opposite order
	bool is_hidden = false;   // only skipped: neither listed nor printed
	bool is_to_end = false;   // a sequence up to the end of the content
	bool is_wide = false;     // an array for an integer of more than 64 bits, of bytes or bits
	bool is_boolean = false;  // an integer that is false or true
	bool is_coded = false;    // a real of 16 bits, coded as a comp_t
	bool is_text = false;     // an 8-bit integer that is a character; a string, or an array or sequence of these
	Encoding encoding = Encoding::utf8; // of a text
	std::uint8_t base = 10;             // 2, 8, 10, 16 or dotted_base: how an integer is printed
	std::int8_t clock = -1;             // an integer that counts the ticks of this clock of the description
	std::uint16_t roles = 0;            // in CTF 2, a bit for each Role (json_types.h)
	std::uint32_t align_bits = 1;
	std::uint32_t size_bits = 0; // of an integer or a float; of a varint, the most that are read
	// Where an integer is saved; where a sequence's length or a variant's tag is read. The slot of an integer that
	// counts a clock is followed by one for its size.
	std::int32_t slot = -1;
	std::uint64_t length = 0;                       // of an array
	std::uint64_t times = 1;                        // a sequence's length is its slot's value times this,
	std::int64_t plus = 0;                          // plus this
	Presences presence;                             // of an optional
	std::shared_ptr<const Enumeration> labels;      // of an integer; may be null
	std::shared_ptr<const std::vector<Flag>> flags; // of an integer; may be null
	std::vector<Member> members;                    // of a structure; of a variant the options
	std::vector<FieldClass> element;                // one, of an array, a sequence or an optional
	std::shared_ptr<const Reference> reference;     // of a sequence, a variant or an optional
	std::uint64_t fixed_bits = 0;                   // the size from an aligned start, if is_fixed
	bool is_fixed = false;                          // always of the same size, and nothing in it is saved

	// Computes is_fixed and fixed_bits, also of its parts, which must not change afterwards.
	void finish();
	// How many fields it consists of, itself included.
	std::size_t nodes() const;
	// Whether its size is in the description.
	bool is_scalar() const { return kind == Kind::integer || kind == Kind::floating_point; }
	bool is_integer() const { return kind == Kind::integer || kind == Kind::varint; }
	// The distance from one element to the next.
	std::uint64_t stride() const;
};

struct Member {
	std::string name;
	FieldClass type;
	TextPosition position;        // in the description
	std::vector<LabelRange> tags; // of an option: values of the tag that select it
};

inline std::uint64_t aligned(std::uint64_t at_bits, std::uint64_t align_bits)
{
	return (at_bits + align_bits - 1) & ~(align_bits - 1);
}

// The content of a packet, and the values that a walk has saved so far.
struct View {
	const std::byte *packet = nullptr;
	std::uint64_t end_bits = 0; // of the content
	std::uint64_t *slots = nullptr;

	bool has(std::uint64_t at_bits, std::uint64_t size_bits) const
	{
		return at_bits <= end_bits && size_bits <= end_bits - at_bits;
	}
};

// Reads 1 to 64 bits, and no other bytes. Not sign-extended.
std::uint64_t read_bits(const std::byte *base, std::uint64_t at_bits, std::uint32_t size_bits, bool big_endian);

inline std::uint64_t sign_extended(std::uint64_t value, std::uint32_t size_bits)
{
	const unsigned up = 64 - size_bits;
	return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << up) >> up);
}

// The lowest bit becomes the highest.
std::uint64_t reversed_bits(std::uint64_t value, std::uint32_t size_bits);

// An integer or the bits of a float.
inline std::uint64_t read_scalar(const FieldClass &type, const View &view, std::uint64_t at_bits)
{
	std::uint64_t value = read_bits(view.packet, at_bits, type.size_bits, type.big_endian);
	if (type.is_reversed) [[unlikely]]
		value = reversed_bits(value, type.size_bits);
	return type.is_signed ? sign_extended(value, type.size_bits) : value;
}

// A varint that starts at a byte. False: it is not wholly inside the content, or has more than 64 bits.
bool read_varint(const FieldClass &type, const View &view, std::uint64_t &at_bits, std::uint64_t &value);

// As read_scalar(), for a scalar inside the content: one load of 8 bytes where the content has as many.
inline std::uint64_t read_scalar_fast(const FieldClass &type, const View &view, std::uint64_t at_bits)
{
	const std::uint32_t lead = at_bits % 8;
	if (type.big_endian || type.is_reversed || lead + type.size_bits > 64 || !view.has(at_bits - lead, 64))
		return read_scalar(type, view, at_bits);
	const auto word = load<std::uint64_t>(view.packet + at_bits / 8);
	const std::uint64_t value = word >> lead & (~std::uint64_t(0) >> (64 - type.size_bits));
	return type.is_signed ? sign_extended(value, type.size_bits) : value;
}

double half_as_real(std::uint16_t bits);

// The kernel's comp_t (linux/acct.h): 13 bits, above them 3 bits of an exponent to base 8. Only TDL has it.
inline constexpr std::uint32_t comp_t_bits = 16;

inline double comp_t_as_real(std::uint64_t bits)
{
	return static_cast<double>((bits & 0x1fff) << 3 * (bits >> 13 & 7));
}

inline double as_real(std::uint64_t bits, std::uint32_t size_bits, bool is_coded)
{
	if (size_bits == 16) [[unlikely]]
		return is_coded ? comp_t_as_real(bits) : half_as_real(static_cast<std::uint16_t>(bits));
	return size_bits == 32 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
			       : std::bit_cast<double>(bits);
}

std::uint64_t sequence_length(const FieldClass &sequence, const View &view, std::uint64_t at_bits);

// The number of elements of an array or sequence at `at_bits`. For one that extends to the end, with elements of
// variable size, the result is an upper limit: is_over() finds the end.
inline std::uint64_t length_of(const FieldClass &type, const View &view, std::uint64_t at_bits)
{
	return type.kind == FieldClass::Kind::array ? type.length : sequence_length(type, view, at_bits);
}

inline bool is_over(const FieldClass &type, const View &view, std::uint64_t at_bits)
{
	return type.is_to_end && at_bits >= view.end_bits;
}

// Whether an optional is present.
inline bool is_present(const FieldClass &optional, const View &view)
{
	for (const FieldClass::Presence &presence : *optional.presence)
		if (!presence.test.accepts(view.slots[presence.slot]))
			return false;
	return true;
}

// The option that the tag selects, or nullptr.
const Member *option_of(const FieldClass &variant, const View &view);

// The text of a string or of characters at `at_bits`, up to the first NUL, in UTF-8: in `scratch` if it was converted.
// The field must have been walked before.
std::string_view text_at(const FieldClass &type, const View &view, std::uint64_t at_bits, std::string &scratch);

// Moves `at_bits` past a field and saves the values that others refer to. False: the field is not wholly inside the
// content, or its variant's tag selects nothing.
bool skip(const FieldClass &type, const View &view, std::uint64_t &at_bits);

} // namespace monitor::trace
