// SPDX-License-Identifier: MIT
#include "field_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

constexpr std::size_t max_scalar_chars = 72;
constexpr std::string_view absent = "null"; // an optional element of a list

char *put_real(char *out, double value, bool json)
{
	if (std::isfinite(value))
		return std::to_chars(out, out + max_scalar_chars, value).ptr;
	const char *text = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
	if (!json)
		return put(out, text);
	*out++ = '"';
	out = put(out, text);
	*out++ = '"';
	return out;
}

// In the base of the description.
char *put_based(char *out, std::uint64_t value, const FieldClass &type)
{
	if (type.base != 10 && type.is_signed && type.size_bits < 64)
		value &= (std::uint64_t(1) << type.size_bits) - 1; // without sign extension
	if (type.base == 16)
		return put_hex(out, value);
	if (type.base == dotted_base) {
		for (unsigned up = 24; up > 0; up -= 8)
			*(out = put_unsigned(out, value >> up & 0xff))++ = '.';
		return put_unsigned(out, value & 0xff);
	}
	out = put(out, type.base == 8 ? "0" : "0b");
	return std::to_chars(out, out + max_scalar_chars, value, type.base).ptr;
}

} // namespace

FieldText::FieldText(const FieldClass &scope, bool json) : json_(json), root_(compile(scope)) {}

FieldText::Form FieldText::form_of(const FieldClass &type, bool json)
{
	if (type.is_integer() && !type.labels && !type.flags && (json || type.base == 10))
		return Form::decimal;
	if (type.is_scalar() || type.is_integer())
		return Form::scalar;
	if (type.kind == FieldClassKind::optional)
		return Form::optional;
	if (type.is_wide)
		return Form::wide;
	if (type.is_text)
		return Form::text;
	if (type.kind == FieldClassKind::structure)
		return Form::structure;
	return type.kind == FieldClassKind::variant ? Form::variant : Form::elements;
}

FieldText::Node FieldText::compile(const FieldClass &type) const
{
	Node node{&type, form_of(type, json_), {}, {}, ShortText::head_bytes + 2};
	if (type.is_scalar() || type.is_integer())
		node.max_chars += max_scalar_chars;
	for (const Member &member : type.members) {
		node.children.push_back(compile(member.type));
		Node &child = node.children.back();
		child.prefix = ShortText(json_ ? json_text(member.name) + ':' : readable(member.name) + '=');
		node.max_chars += child.prefix.room() + child.max_chars + 1;
	}
	for (const FieldClass &element : type.element)
		node.children.push_back(compile(element));
	if (type.kind == FieldClassKind::optional)
		node.max_chars += node.children.front().max_chars + absent.size();
	return node;
}

void FieldText::put(const View &view, std::uint64_t &at_bits, LineBuffer &out) const
{
	view.slots[budget_slot] = ~std::uint64_t(0);
	Walk walk{view, aligned(at_bits, root_.type->align_bits), out, nullptr};
	out.reserve(root_.max_chars);
	walk.out = out.end();
	put_members(root_, walk);
	at_bits = walk.at_bits;
	out.set_end(walk.out);
}

void FieldText::put_members(const Node &node, Walk &walk) const
{
	bool first = true;
	for (const Node &member : node.children) {
		if (member.type->is_hidden) {
			skip(*member.type, walk.view, walk.at_bits);
			continue;
		}
		if (member.form == Form::optional && !is_present(*member.type, walk.view))
			continue;
		if (!first)
			*walk.out++ = json_ ? ',' : ' ';
		first = false;
		walk.out = member.prefix.put(walk.out);
		if (member.form == Form::decimal)
			put_decimal(*member.type, walk);
		else
			put_node(member, walk);
	}
}

void FieldText::put_text(std::string_view text, Walk &walk) const
{
	walk.reserve(text.size() * max_escaped_chars + 2 + root_.max_chars);
	walk.out = json_            ? put_json(walk.out, text)
		   : is_plain(text) ? monitor::put(walk.out, text)
				    : put_quoted(walk.out, text);
}

// Reads a scalar and moves `at_bits` past it.
static std::uint64_t take_scalar(const FieldClass &type, const View &view, std::uint64_t &at_bits)
{
	at_bits = aligned(at_bits, type.align_bits);
	std::uint64_t value = 0;
	if (type.kind == FieldClassKind::varint) {
		read_varint(type, view, at_bits, value);
	} else {
		value = read_scalar_fast(type, view, at_bits);
		at_bits += type.size_bits;
	}
	if (type.slot >= 0)
		view.slots[type.slot] = value;
	return value;
}

inline void FieldText::put_decimal(const FieldClass &type, Walk &walk)
{
	const std::uint64_t value = take_scalar(type, walk.view, walk.at_bits);
	walk.out =
	    type.is_signed ? put_signed(walk.out, static_cast<std::int64_t>(value)) : put_unsigned(walk.out, value);
}

// The names of the flags that are set, and the bits without a name; "": no flag is set.
static std::string names_of(const std::vector<Flag> &flags, std::uint64_t value)
{
	std::string names;
	std::uint64_t others = value;
	for (const Flag &flag : flags) {
		if (value & flag.bits)
			names += (names.empty() ? "" : "|") + flag.name;
		others &= ~flag.bits;
	}
	char number[max_scalar_chars];
	if (!names.empty() && others)
		names += '|' + std::string(number, put_hex(number, others));
	return names;
}

void FieldText::put_scalar(const FieldClass &type, Walk &walk) const
{
	const std::uint64_t value = take_scalar(type, walk.view, walk.at_bits);
	if (type.kind == FieldClassKind::floating_point) {
		walk.out = put_real(walk.out, as_real(value, type.size_bits, type.is_coded), json_);
		return;
	}
	if (const std::string *label = type.labels ? type.labels->find(value) : nullptr; label && !label->empty())
		return put_text(*label, walk);
	if (const std::string names = type.flags ? names_of(*type.flags, value) : ""; !names.empty())
		return put_text(names, walk);
	if (!json_ && type.base != 10)
		walk.out = put_based(walk.out, value, type);
	else if (type.is_signed)
		walk.out = put_signed(walk.out, static_cast<std::int64_t>(value));
	else
		walk.out = put_unsigned(walk.out, value);
}

void FieldText::put_elements(const Node &node, Walk &walk) const
{
	walk.at_bits = aligned(walk.at_bits, node.type->align_bits);
	*walk.out++ = '[';
	const std::uint64_t length = length_of(*node.type, walk.view, walk.at_bits);
	const Node &element = node.children.front();
	for (std::uint64_t i = 0; i < length && !is_over(*node.type, walk.view, walk.at_bits); ++i) {
		walk.reserve(element.max_chars + root_.max_chars);
		if (i > 0)
			*walk.out++ = json_ ? ',' : ' ';
		put_node(element, walk);
	}
	*walk.out++ = ']';
}

// An integer of more than 64 bits: its digits in words of 64 bits, the highest first.
void FieldText::put_wide(const FieldClass &type, Walk &walk) const
{
	const std::uint64_t begin = aligned(walk.at_bits, type.align_bits), size_bits = type.fixed_bits;
	walk.at_bits = begin + size_bits;
	walk.reserve(size_bits / 4 + max_scalar_chars + root_.max_chars);
	if (json_)
		*walk.out++ = '"';
	bool is_first = true;
	for (std::uint64_t word = (size_bits + 63) / 64; word-- > 0;) {
		const std::uint64_t low = 64 * word, bits = std::min<std::uint64_t>(64, size_bits - low);
		const std::uint64_t at = begin + (type.big_endian ? size_bits - low - bits : low);
		const std::uint64_t value =
		    read_bits(walk.view.packet, at, static_cast<std::uint32_t>(bits), type.big_endian);
		if (is_first && value == 0 && word > 0)
			continue;
		walk.out = is_first ? put_hex(walk.out, value) : put_hex_word(walk.out, value);
		is_first = false;
	}
	if (json_)
		*walk.out++ = '"';
}

void FieldText::put_string(const FieldClass &type, Walk &walk) const
{
	std::string scratch;
	const std::string_view text = text_at(type, walk.view, walk.at_bits, scratch);
	put_text(text, walk);
	if (type.encoding != Encoding::utf8) {
		skip(type, walk.view, walk.at_bits);
		return;
	}
	walk.at_bits = aligned(walk.at_bits, type.align_bits);
	const std::uint64_t bytes =
	    type.kind == FieldClassKind::string ? text.size() + 1 : length_of(type, walk.view, walk.at_bits);
	walk.at_bits += bytes * 8;
}

void FieldText::put_braced(const Node &node, Walk &walk) const
{
	*walk.out++ = '{';
	if (node.form == Form::structure) {
		walk.at_bits = aligned(walk.at_bits, node.type->align_bits);
		put_members(node, walk);
	} else if (const Member *option = option_of(*node.type, walk.view)) {
		const Node &child = node.children[static_cast<std::size_t>(option - node.type->members.data())];
		walk.out = child.prefix.put(walk.out);
		put_node(child, walk);
	}
	*walk.out++ = '}';
}

void FieldText::put_node(const Node &node, Walk &walk) const
{
	switch (node.form) {
	case Form::decimal:
		return put_decimal(*node.type, walk);
	case Form::scalar:
		return put_scalar(*node.type, walk);
	case Form::text:
		return put_string(*node.type, walk);
	case Form::elements:
		return put_elements(node, walk);
	case Form::wide:
		return put_wide(*node.type, walk);
	case Form::optional:
		if (is_present(*node.type, walk.view))
			return put_node(node.children.front(), walk);
		walk.out = monitor::put(walk.out, absent);
		return;
	case Form::structure:
	case Form::variant:
		return put_braced(node, walk);
	}
}

} // namespace monitor::trace
