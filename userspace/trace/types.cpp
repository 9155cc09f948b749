// SPDX-License-Identifier: MIT
#include "types.h"

#include <algorithm>

#include "monitor/ring.h"

namespace monitor::trace {
namespace {

using tsdl::Position;
using tsdl::Refusal;
using tsdl::Type;
using tsdl::Value;

constexpr std::uint32_t max_align_bits = 64;
constexpr std::uint64_t max_array_length = EDC_BLOCK_SIZE;

bool truth(const Value &value)
{
	if (value.kind == Value::Kind::integer && !value.negative && value.magnitude <= 1)
		return value.magnitude == 1;
	if (value.text == "true" || value.text == "TRUE")
		return true;
	if (value.text == "false" || value.text == "FALSE")
		return false;
	throw Refusal(value.position, "expected true or false here");
}

std::uint8_t base_of(const Value &value)
{
	if (value.kind == Value::Kind::integer)
		return value.magnitude == 16 ? 16 : 10;
	for (const char *hex : {"hexadecimal", "hex", "x", "X", "p"})
		if (value.text == hex)
			return 16;
	return 10;
}

std::uint32_t checked_align(Position position, std::uint64_t align_bits)
{
	if (align_bits == 0 || align_bits > max_align_bits || (align_bits & (align_bits - 1)) != 0)
		throw Refusal(position, "an alignment other than 1, 2, 4, 8, 16, 32 or 64 bits is not read");
	return static_cast<std::uint32_t>(align_bits);
}

} // namespace

std::uint64_t number(const Value &value)
{
	if (value.kind != Value::Kind::integer || value.negative)
		throw Refusal(value.position, "expected a number that is not negative here");
	return value.magnitude;
}

std::int64_t signed_number(const Value &value)
{
	if (value.kind != Value::Kind::integer || value.magnitude > std::uint64_t(1) << 62)
		throw Refusal(value.position, "expected a number of less than 63 bits here");
	const auto magnitude = static_cast<std::int64_t>(value.magnitude);
	return value.negative ? -magnitude : magnitude;
}

std::string name_of(const Value &value)
{
	if (value.kind == Value::Kind::integer || value.text.empty())
		throw Refusal(value.position, "expected a name here");
	for (const char c : value.text)
		if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
			throw Refusal(value.position, "a name holds a control character");
	return value.text;
}

void check_little_endian(const Value &value)
{
	if (value.text != "le" && value.text != "native" && value.text != "network" && value.text != "be")
		throw Refusal(value.position, "expected a byte order here");
	if (value.text == "be" || value.text == "network")
		throw Refusal(value.position, "big endian data is not read");
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

void Types::set_attribute(Integer &made, const tsdl::Attribute &attribute) const
{
	const auto &[position, name, value] = attribute;
	if (name == "size" && (number(value) == 0 || number(value) > 64))
		throw Refusal(value.position, "an integer of other than 1 to 64 bits is not read");
	if (name == "map" && value.text != "clock." + clock_ + ".value")
		throw Refusal(value.position, "an integer is mapped to a clock that is not described");
	if (name == "size")
		made.size_bits = static_cast<std::uint32_t>(value.magnitude);
	else if (name == "align")
		made.align_bits = checked_align(value.position, number(value));
	else if (name == "signed")
		made.is_signed = truth(value);
	else if (name == "byte_order")
		check_little_endian(value);
	else if (name == "base")
		made.base = base_of(value);
	else if (name == "encoding")
		made.is_text = value.text == "UTF8" || value.text == "ASCII";
	else if (name == "map")
		made.clock = clock_;
	else
		throw Refusal(position, "the integer attribute " + name + " is not read");
}

Integer Types::plain_integer(const Type &type) const
{
	Integer made;
	for (const auto &attribute : type.attributes)
		set_attribute(made, attribute);
	if (made.size_bits == 0)
		throw Refusal(type.position, "an integer has no size");
	if (made.align_bits == 0)
		made.align_bits = made.size_bits % 8 == 0 ? 8 : 1;
	return made;
}

Integer Types::enumeration(const Type &type) const
{
	Integer made = integer(*type.base);
	if (made.labels)
		throw Refusal(type.position, "an enum whose container is an enum is not read");
	std::vector<Enumeration::Label> labels;
	for (const auto &label : type.labels) {
		Value text;
		text.kind = Value::Kind::text;
		text.position = label.position;
		text.text = label.text;
		labels.push_back({label.first, label.last, name_of(text)});
	}
	auto enumeration = std::make_shared<const Enumeration>(std::move(labels), made.is_signed);
	if (!enumeration->ok())
		throw Refusal(type.position, "an enum whose ranges overlap or run backwards is not read");
	made.labels = std::move(enumeration);
	made.is_text = false;
	return made;
}

Integer Types::integer(const Type &type) const
{
	if (type.kind == Type::Kind::integer)
		return plain_integer(type);
	if (type.kind == Type::Kind::enumeration)
		return enumeration(type);
	if (type.kind == Type::Kind::structure)
		throw Refusal(type.position, "a struct as a field is not read");
	const auto alias = aliases_.find(type.name);
	if (alias == aliases_.end())
		throw Refusal(type.position, "the type " + type.name + " is not defined");
	if (!alias->second.integer)
		throw Refusal(type.position, "a struct as a field is not read");
	return *alias->second.integer;
}

const Type &Types::structure(const Type &type) const
{
	const auto alias = aliases_.find(type.name);
	if (type.kind == Type::Kind::structure)
		return type;
	if (type.kind != Type::Kind::named || alias == aliases_.end() || !alias->second.structure)
		throw Refusal(type.position, "expected a struct here");
	return *alias->second.structure;
}

std::vector<Placed> Types::lay_out(const Type &type, std::uint64_t &offset_bits) const
{
	const Type &laid = structure(type);
	std::vector<Placed> placed;
	std::uint64_t align = checked_align(laid.position, laid.align_bits);
	for (const auto &declaration : laid.fields) {
		placed.push_back({&declaration, integer(*declaration.type), 0});
		align = std::max<std::uint64_t>(align, placed.back().type.align_bits);
	}
	offset_bits = round_up(offset_bits, align);
	for (Placed &each : placed) {
		each.offset_bits = offset_bits = round_up(offset_bits, each.type.align_bits);
		const tsdl::Declaration &declaration = *each.declaration;
		if (!declaration.is_array) {
			offset_bits += each.type.size_bits;
			continue;
		}
		if (each.type.size_bits != 8 || each.type.align_bits != 8 || each.type.labels)
			throw Refusal(declaration.position, "an array of other than bytes is not read");
		if (declaration.array_length == 0 || declaration.array_length > max_array_length)
			throw Refusal(declaration.position, "an array of no or very many elements is not read");
		offset_bits += declaration.array_length * 8;
	}
	return placed;
}

void Types::define(const tsdl::Binding &alias)
{
	Named named;
	if (alias.type->kind == Type::Kind::structure)
		named.structure = alias.type.get();
	else
		named.integer = integer(*alias.type);
	if (!aliases_.emplace(alias.name, std::move(named)).second)
		throw Refusal(alias.position, "the type " + alias.name + " is defined twice");
}

} // namespace monitor::trace
