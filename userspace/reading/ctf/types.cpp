// SPDX-License-Identifier: MIT
#include "types.h"

#include <algorithm>
#include <array>
#include <set>

namespace monitor::trace {
namespace {

using tsdl::Type;
using tsdl::Value;
using FieldClassKind = FieldClass::Kind;
using Attribute = KnownAttribute::Kind;

bool boolean(const Value &value)
{
	return value.kind == Value::Kind::integer ? value.magnitude == 1 : value.text == "true" || value.text == "TRUE";
}

std::uint8_t base_of(const Value &value)
{
	struct Named {
		const char *name;
		std::uint8_t base;
	};
	static constexpr std::array<Named, 14> names = {{{"decimal", 10},
							 {"dec", 10},
							 {"d", 10},
							 {"i", 10},
							 {"u", 10},
							 {"hexadecimal", 16},
							 {"hex", 16},
							 {"x", 16},
							 {"X", 16},
							 {"p", 16},
							 {"octal", 8},
							 {"oct", 8},
							 {"o", 8},
							 {"binary", 2}}};
	if (value.kind == Value::Kind::integer && !value.negative)
		for (const std::uint8_t base : {2, 8, 10, 16})
			if (value.magnitude == base)
				return base;
	if (value.kind != Value::Kind::integer && value.text == "b")
		return 2;
	for (const Named &each : names)
		if (value.kind != Value::Kind::integer && value.text == each.name)
			return each.base;
	throw ParseError(value.position, "expected a base here: binary, octal, decimal or hexadecimal");
}

bool is_text_encoding(const Value &value)
{
	if (value.text == "UTF8" || value.text == "ASCII" || value.text == "utf8" || value.text == "ascii")
		return true;
	if (value.text == "none")
		return false;
	throw ParseError(value.position, "expected an encoding here: UTF8, ASCII or none");
}

std::uint32_t checked_align(TextPosition position, std::uint64_t align_bits)
{
	if (align_bits == 0 || (align_bits & (align_bits - 1)) != 0)
		throw ParseError(position, "an alignment must be a power of two");
	if (align_bits > max_align_bits)
		throw ParseError(position, "an alignment of more than 4096 bits is not supported");
	return static_cast<std::uint32_t>(align_bits);
}

} // namespace

std::uint64_t number(const Value &value)
{
	if (value.kind != Value::Kind::integer || value.negative)
		throw ParseError(value.position, "expected a non-negative number here");
	return value.magnitude;
}

std::int64_t signed_number(const Value &value)
{
	if (value.kind != Value::Kind::integer || value.magnitude > std::uint64_t(1) << 62)
		throw ParseError(value.position, "expected a number of less than 63 bits here");
	const auto magnitude = static_cast<std::int64_t>(value.magnitude);
	return value.negative ? -magnitude : magnitude;
}

std::string name_of(const Value &value)
{
	if (value.kind == Value::Kind::integer || value.text.empty())
		throw ParseError(value.position, "expected a name here");
	for (const char c : value.text)
		if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
			throw ParseError(value.position, "a name contains a control character");
	return value.text;
}

bool is_big_endian(const Value &value)
{
	if (value.text != "le" && value.text != "network" && value.text != "be")
		throw ParseError(value.position, "expected a byte order here: le or be");
	return value.text != "le";
}

bool Types::byte_order(const Value &value) const
{
	return value.text == "native" ? big_endian_ : is_big_endian(value);
}

const FieldClass *Scope::find(const std::string &name) const
{
	for (const Scope *scope = this; scope; scope = scope->outer_) {
		const auto found = scope->types_.find(name);
		if (found != scope->types_.end())
			return &found->second;
	}
	return nullptr;
}

// A named type is copied at each use; the total is limited, so that a short text cannot become a huge description.
const FieldClass &Types::count_nodes(const FieldClass &made, TextPosition position)
{
	nodes_ += made.nodes();
	if (nodes_ > max_type_nodes)
		throw ParseError(position, "the description has too many fields");
	return made;
}

void Types::set_attribute(FieldClass &made, const tsdl::Attribute &attribute)
{
	const auto &[position, name, value] = attribute;
	if (name == "size") {
		if (number(value) == 0)
			throw ParseError(value.position, "an integer must have at least one bit");
		if (number(value) > max_integer_bits)
			throw ParseError(value.position, "an integer of more than 4096 bits is not supported");
		made.size_bits = static_cast<std::uint32_t>(value.magnitude);
	} else if (name == "align") {
		made.align_bits = checked_align(value.position, number(value));
	} else if (name == "signed") {
		made.is_signed = boolean(value);
	} else if (name == "byte_order") {
		made.big_endian = byte_order(value);
	} else if (name == "base") {
		made.base = base_of(value);
	} else if (name == "encoding") {
		made.is_text = is_text_encoding(value);
	} else if (name == "map") {
		for (std::size_t i = 0; i < clocks_.size(); ++i)
			if (value.text == "clock." + clocks_[i] + ".value")
				made.clock = static_cast<std::int8_t>(i);
		if (made.clock < 0)
			throw ParseError(value.position, "an integer is mapped to a clock that is not described");
	}
}

FieldClass Types::integer(const Type &type)
{
	FieldClass made;
	made.align_bits = 0;
	made.big_endian = big_endian_;
	check_attributes(type.attributes, "an integer", warnings_,
			 {{"size", Attribute::count},
			  {"align", Attribute::count},
			  {"signed", Attribute::boolean},
			  {"byte_order", Attribute::word},
			  {"base", Attribute::base},
			  {"encoding", Attribute::word},
			  {"map", Attribute::word}});
	for (const auto &attribute : type.attributes)
		set_attribute(made, attribute);
	if (made.size_bits == 0)
		throw ParseError(type.position, "an integer has no size");
	if (made.align_bits == 0)
		made.align_bits = made.size_bits % 8 == 0 ? 8 : 1;
	made.is_text = made.is_text && made.size_bits == 8 && made.align_bits == 8;
	return made.size_bits > 64 ? wide_integer(std::move(made)) : made;
}

FieldClass wide_integer(FieldClass made)
{
	FieldClass array;
	array.kind = FieldClassKind::array;
	array.is_wide = true;
	array.big_endian = made.big_endian;
	array.align_bits = made.align_bits;
	FieldClass element = std::move(made);
	const std::uint32_t size_bits = element.size_bits;
	element.size_bits = element.align_bits = size_bits % 8 == 0 && element.align_bits % 8 == 0 ? 8 : 1;
	element.is_signed = element.is_text = false;
	element.clock = -1;
	array.length = size_bits / element.size_bits;
	array.element.push_back(std::move(element));
	return array;
}

FieldClass Types::floating_point(const Type &type)
{
	FieldClass made;
	made.kind = FieldClassKind::floating_point;
	made.big_endian = big_endian_;
	std::uint64_t exponent = 0, mantissa = 0;
	check_attributes(type.attributes, "a floating_point", warnings_,
			 {{"exp_dig", Attribute::count},
			  {"mant_dig", Attribute::count},
			  {"byte_order", Attribute::word},
			  {"align", Attribute::count}});
	made.align_bits = 8;
	for (const auto &[position, name, value] : type.attributes) {
		if (name == "exp_dig")
			exponent = number(value);
		else if (name == "mant_dig")
			mantissa = number(value);
		else if (name == "byte_order")
			made.big_endian = byte_order(value);
		else if (name == "align")
			made.align_bits = checked_align(value.position, number(value));
	}
	if (exponent == 8 && mantissa == 24)
		made.size_bits = 32;
	else if (exponent == 11 && mantissa == 53)
		made.size_bits = 64;
	else
		throw ParseError(type.position,
				 "a floating_point must have exp_dig 8, mant_dig 24 or exp_dig 11, mant_dig 53");
	return made;
}

FieldClass Types::string(const Type &type)
{
	FieldClass made;
	made.kind = FieldClassKind::string;
	made.align_bits = 8;
	made.is_text = true;
	check_attributes(type.attributes, "a string", warnings_, {{"encoding", Attribute::word}});
	for (const auto &[position, name, value] : type.attributes)
		if (name == "encoding")
			is_text_encoding(value);
	return made;
}

// A number in two's complement.
static bool fits(std::uint64_t value, bool is_negative, const FieldClass &integer)
{
	const unsigned bits = integer.size_bits - (integer.is_signed ? 1 : 0);
	if (is_negative)
		return integer.is_signed && (bits >= 63 || ~value >> bits == 0);
	return bits >= 64 || value >> bits == 0;
}

FieldClass Types::enumeration(const Type &type, Scope &scope)
{
	Type plain_int;
	plain_int.position = type.position;
	plain_int.name = "int";
	FieldClass made = make(type.base ? *type.base : plain_int, scope);
	if (made.kind != FieldClassKind::integer || made.labels)
		throw ParseError(type.position, "the container of an enum must be an integer");
	if (type.labels.empty())
		throw ParseError(type.position, "an enum has no labels");
	std::vector<Enumeration::Label> labels;
	for (const auto &label : type.labels) {
		if (!fits(label.first, label.is_first_negative, made) ||
		    !fits(label.last, label.is_last_negative, made))
			throw ParseError(label.position,
					 "the label " + label.text +
					     " is outside the range of its integer: " + std::to_string(made.size_bits) +
					     " bits, " + (made.is_signed ? "signed" : "unsigned"));
		labels.push_back({label.first, label.last, label.text});
	}
	auto enumeration = std::make_shared<const Enumeration>(std::move(labels), made.is_signed);
	if (!enumeration->ok())
		throw ParseError(type.position, "an enum has a range that runs backwards, or too many that overlap");
	made.labels = std::move(enumeration);
	made.is_text = false;
	return made;
}

// A definition between fields applies to later fields.
FieldClass Types::compound(const Type &type, Scope &scope)
{
	FieldClass made;
	const bool is_structure = type.kind == Type::Kind::structure;
	made.kind = is_structure ? FieldClassKind::structure : FieldClassKind::variant;
	Scope inner(&scope);
	auto definition = type.definitions.begin();
	std::set<std::string_view> names;
	for (const auto &declared : type.fields) {
		while (definition != type.definitions.end() && definition->position.is_before(declared.position))
			define(*definition++, inner);
		if (!names.insert(declared.name).second)
			throw ParseError(declared.position, "the name " + declared.name + " appears twice in a " +
								(is_structure ? "struct" : "variant"));
		made.members.push_back(
		    {declared.name, make(*declared.type, inner, declared.dimensions), declared.position, {}});
		if (is_structure)
			made.align_bits = std::max(made.align_bits, made.members.back().type.align_bits);
	}
	if (!is_structure && made.members.empty())
		throw ParseError(type.position, "a variant has no options");
	made.finish();
	if (made.fixed_bits > max_fixed_bits)
		throw ParseError(type.position, "a struct is too large");
	return made;
}

FieldClass Types::body_of(const Type &type, Scope &scope)
{
	return type.kind == Type::Kind::enumeration ? enumeration(type, scope) : compound(type, scope);
}

// A struct, variant or enum: with a body, or the name of one.
FieldClass Types::tagged(const Type &type, const char *keyword, Scope &scope)
{
	const std::string name = std::string(keyword) + ' ' + type.name;
	FieldClass made;
	if (type.has_body) {
		made = body_of(type, scope);
		if (type.align_bits)
			made.align_bits = std::max(made.align_bits, checked_align(type.position, type.align_bits));
		if (!type.name.empty() && !scope.add(name, count_nodes(made, type.position)))
			throw ParseError(type.position, "the type " + name + " is defined twice");
	} else {
		const FieldClass *found = scope.find(name);
		if (!found)
			throw ParseError(type.position, "the type " + name + " is not defined");
		made = count_nodes(*found, type.position);
		if (type.align_bits)
			made.align_bits = std::max(made.align_bits, checked_align(type.position, type.align_bits));
	}
	if (made.kind == FieldClassKind::variant && (type.has_body || !type.tag.empty())) {
		if (made.reference && !made.reference->path.empty())
			throw ParseError(type.position, "the variant already has a tag");
		made.reference = std::make_shared<const Reference>(Reference{type.tag, type.position});
	}
	return made;
}

FieldClass Types::named(const Type &type, const Scope &scope)
{
	const FieldClass *found = scope.find(type.name);
	if (!found)
		throw ParseError(type.position, "the type " + type.name + " is not defined");
	return count_nodes(*found, type.position);
}

FieldClass Types::make_plain(const Type &type, Scope &scope)
{
	switch (type.kind) {
	case Type::Kind::integer:
		return integer(type);
	case Type::Kind::floating_point:
		return floating_point(type);
	case Type::Kind::string:
		return string(type);
	case Type::Kind::enumeration:
		return tagged(type, "enum", scope);
	case Type::Kind::structure:
		return tagged(type, "struct", scope);
	case Type::Kind::variant:
		return tagged(type, "variant", scope);
	case Type::Kind::named:
		break;
	}
	return named(type, scope);
}

FieldClass Types::array_of(FieldClass element, const tsdl::Dimension &dimension)
{
	FieldClass made;
	made.kind = dimension.path.empty() ? FieldClassKind::array : FieldClassKind::sequence;
	made.length = dimension.length;
	if (!dimension.path.empty())
		made.reference = std::make_shared<const Reference>(Reference{dimension.path, dimension.position});
	made.align_bits = element.align_bits;
	made.is_text = element.kind == FieldClassKind::integer && element.is_text;
	made.base = element.base;
	if (dimension.path.empty() && element.stride() != 0 && dimension.length > max_fixed_bits / element.stride())
		throw ParseError(dimension.position, "an array is too large");
	made.element.push_back(std::move(element));
	made.finish();
	return made;
}

FieldClass Types::make(const Type &type, Scope &scope, const std::vector<tsdl::Dimension> &dimensions)
{
	FieldClass made = make_plain(type, scope);
	made.finish();
	for (auto dimension = dimensions.rbegin(); dimension != dimensions.rend(); ++dimension)
		made = array_of(std::move(made), *dimension);
	nodes_ += 1 + dimensions.size();
	return made;
}

void Types::define(const tsdl::Definition &definition, Scope &scope)
{
	FieldClass made = make(*definition.type, scope, definition.dimensions);
	if (!definition.name.empty() && !scope.add(definition.name, std::move(made)))
		throw ParseError(definition.position, "the type " + definition.name + " is defined twice");
}

} // namespace monitor::trace
