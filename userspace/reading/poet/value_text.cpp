// SPDX-License-Identifier: MIT
#include "value_text.h"

#include "base/text.h"
#include "reading/ctf/field_text.h"

namespace poet::detail {
namespace {

using namespace monitor::trace;

// One element of a list, which starts at at_bits.
Value element_value(const FieldClass &type, const View &view, std::uint64_t at_bits)
{
	at_bits = aligned(at_bits, type.align_bits);
	if (type.kind == FieldClass::Kind::integer) {
		const std::uint64_t bits = read_scalar(type, view, at_bits);
		return type.is_signed ? Value(static_cast<std::int64_t>(bits)) : Value(bits);
	}
	if (type.kind == FieldClass::Kind::floating_point)
		return as_real(read_scalar(type, view, at_bits), type.size_bits, type.is_coded);
	if (type.kind == FieldClass::Kind::varint) {
		std::uint64_t bits = 0;
		if (!read_varint(type, view, at_bits, bits))
			return {};
		return type.is_signed ? Value(static_cast<std::int64_t>(bits)) : Value(bits);
	}
	std::string converted; // has no owner: such elements have no value
	const bool is_kept = type.is_text && type.encoding == Encoding::utf8;
	return is_kept ? Value(text_at(type, view, at_bits, converted)) : Value();
}

// A field of generic CTF, as `monitor list` prints it.
std::string generic_ctf_text(const monitor::trace::Field &field, const monitor::trace::Event &event,
			     std::uint64_t at_bits)
{
	FieldClass scope;
	scope.kind = FieldClass::Kind::structure;
	scope.align_bits = 1;
	scope.members.push_back({"v", *field.type, {}, {}});
	LineBuffer line;
	FieldText(scope, false).put(event.view(), at_bits, line);
	return std::string(line.view().substr(2)); // after "v="
}

} // namespace

Value value_of(const Ref &ref, const monitor::trace::Event &event)
{
	if (!ref.ref.is_in(event))
		return {};
	switch (ref.field->kind) {
	case FieldKind::unsigned_integer:
		return ref.ref.get<std::uint64_t>(event);
	case FieldKind::signed_integer:
		return ref.ref.get<std::int64_t>(event);
	case FieldKind::real:
		return ref.ref.get<double>(event);
	case FieldKind::text:
		return ref.ref.get<std::string_view>(event);
	case FieldKind::list:
		break;
	}
	return {};
}

std::vector<Value> values_of(const Ref &ref, const monitor::trace::Event &event)
{
	std::vector<Value> values;
	std::uint64_t at_bits = 0;
	if (ref.field->kind != FieldKind::list || !ref.field->type || !locate(*ref.field, event, at_bits))
		return values;
	const FieldClass &element = ref.field->type->element.front();
	if (element.is_fixed && element.fixed_bits == 0)
		return values; // an endless list of empty elements
	const View view = event.view();
	const std::uint64_t length = length_of(*ref.field->type, view, at_bits);
	for (std::uint64_t i = 0; i < length && !is_over(*ref.field->type, view, at_bits); ++i) {
		values.push_back(element_value(element, view, at_bits));
		if (!skip(element, view, at_bits))
			break;
	}
	return values;
}

std::string text_of(const Ref &ref, const monitor::trace::Event &event)
{
	if (!ref.ref.is_in(event))
		return {};
	std::uint64_t at_bits = 0;
	if (ref.field->type)
		return locate(*ref.field, event, at_bits) ? generic_ctf_text(*ref.field, event, at_bits)
							  : std::string();
	if (ref.field->kind == FieldKind::text)
		return monitor::readable(ref.ref.get<std::string_view>(event));
	if (const std::string *label = ref.ref.label(event); label && !label->empty())
		return monitor::readable(*label);
	if (ref.field->kind == FieldKind::signed_integer)
		return std::to_string(ref.ref.get<std::int64_t>(event));
	const auto value = ref.ref.get<std::uint64_t>(event);
	if (ref.field->base != 16)
		return std::to_string(value);
	char text[monitor::max_number_chars];
	return {text, monitor::put_hex(text, value)};
}

} // namespace poet::detail
