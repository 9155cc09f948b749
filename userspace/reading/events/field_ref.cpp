// SPDX-License-Identifier: MIT
#include "field_ref.h"

#include <algorithm>
#include <array>
#include <limits>

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

constexpr std::uint64_t walk_budget = std::numeric_limits<std::uint32_t>::max();

// The number of bytes from Event::data that every event has, up to and including this field.
std::uint32_t record_bytes(const EventClass &cls, const Field &field)
{
	if (cls.size_bytes)
		return cls.size_bytes;
	const std::uint64_t bits = cls.is_fixed ? cls.fixed_bits : std::uint64_t(field.offset_bits) + field.size_bits;
	return static_cast<std::uint32_t>(std::min<std::uint64_t>((bits + 7) / 8, 1u << 30));
}

} // namespace

bool locate(const Field &field, const Event &event, std::uint64_t &at_bits)
{
	const View view = event.view();
	view.slots[budget_slot] = walk_budget;
	at_bits = event.at_bits;
	for (std::uint32_t number = 0; number < field.path.front(); ++number)
		if (!skip(*event.cls->scopes[number], view, at_bits))
			return false;
	const FieldClass *type = event.cls->scopes[field.path.front()];
	for (std::size_t depth = 1; depth < field.path.size(); ++depth) {
		const Member &member = type->members[field.path[depth]];
		if (type->kind == FieldClassKind::variant) {
			if (option_of(*type, view) != &member)
				return false;
		} else {
			at_bits = aligned(at_bits, type->align_bits);
			for (const Member *before = type->members.data(); before != &member; ++before)
				if (!skip(before->type, view, at_bits))
					return false;
		}
		type = &member.type;
		for (; type->kind == FieldClassKind::optional; type = &type->element.front())
			if (!is_present(*type, view))
				return false;
	}
	at_bits = aligned(at_bits, type->align_bits);
	return view.has(at_bits, type->is_scalar() ? type->size_bits : 0);
}

FieldRef::FieldRef(const EventClass &cls, const Field &field)
    : signed_(field.kind == FieldKind::signed_integer), labels_(field.labels.get()), field_(&field)
{
	if (!field.is_fixed) {
		how_ = How::walked;
	} else if (field.kind == FieldKind::text) {
		how_ = How::fixed_text;
		text_byte_ = field.offset_bits / 8;
		text_bytes_ = field.size_bits / 8;
	} else if (record_bytes(cls, field) >= 8 && !field.big_endian &&
		   field.offset_bits % 8 + field.size_bits <= 64) {
		how_ = How::shifted;
		// one 8-byte load that ends at or before the end of the record
		byte_ = std::min(field.offset_bits / 8, record_bytes(cls, field) - 8);
		const std::uint32_t shift = field.offset_bits - byte_ * 8;
		left_ = static_cast<std::uint8_t>(64 - field.size_bits - shift);
		right_ = static_cast<std::uint8_t>(64 - field.size_bits);
		mask_ = ~std::uint64_t(0);
	} else {
		how_ = How::careful;
	}
}

std::uint64_t FieldRef::slow_bits(const Event &event) const
{
	if (how_ == How::careful) {
		const std::uint64_t bits =
		    read_bits(event.data, field_->offset_bits, field_->size_bits, field_->big_endian);
		return signed_ ? sign_extended(bits, field_->size_bits) : bits;
	}
	std::uint64_t at_bits = 0, value = 0;
	const bool is_number = how_ == How::walked && (field_->type->is_scalar() || field_->type->is_integer());
	if (!is_number || !locate(*field_, event, at_bits))
		return 0;
	if (field_->type->kind == FieldClassKind::varint)
		return read_varint(*field_->type, event.view(), at_bits, value) ? value : 0;
	return read_scalar(*field_->type, event.view(), at_bits);
}

std::string_view FieldRef::walked_text(const Event &event) const
{
	// A converted text must live as long as the text that it is compared with.
	static thread_local std::array<std::string, 64> converted;
	static thread_local std::size_t last = 0;
	std::uint64_t at_bits = 0;
	if (field_->kind != FieldKind::text || !locate(*field_, event, at_bits))
		return {};
	if (field_->type->encoding != Encoding::utf8)
		last = (last + 1) % converted.size();
	return text_at(*field_->type, event.view(), at_bits, converted[last]);
}

double FieldRef::real(const Event &event) const
{
	if (how_ == How::none || field_->kind != FieldKind::real)
		return 0;
	return as_real(get<std::uint64_t>(event), field_->size_bits, field_->is_coded);
}

} // namespace monitor::trace
