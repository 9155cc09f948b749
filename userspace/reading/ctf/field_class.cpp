// SPDX-License-Identifier: MIT
#include "field_class.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/encoding.h"

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

constexpr std::uint64_t byte_bits = 8;

template <class T> std::uint64_t load_exactly(const std::byte *from, bool big_endian)
{
	const T value = load<T>(from);
	if (!big_endian || sizeof value == 1)
		return value;
	if constexpr (sizeof value == 2)
		return __builtin_bswap16(value);
	else if constexpr (sizeof value == 4)
		return __builtin_bswap32(value);
	else
		return __builtin_bswap64(value);
}

// Bits that do not start or end at a byte boundary: the least significant bit of a byte comes first, in big endian the
// most significant one.
std::uint64_t read_odd_bits(const std::byte *base, std::uint64_t at_bits, std::uint32_t size_bits, bool big_endian)
{
	const std::byte *first = base + at_bits / byte_bits;
	const auto lead = static_cast<std::uint32_t>(at_bits % byte_bits);
	const std::uint32_t bytes = (lead + size_bits + 7) / 8;
	unsigned __int128 all = 0;
	for (std::uint32_t i = 0; i < bytes; ++i) {
		const auto byte = std::to_integer<unsigned>(first[i]);
		all = big_endian ? all << 8 | byte : all | static_cast<unsigned __int128>(byte) << 8 * i;
	}
	all >>= big_endian ? bytes * 8 - lead - size_bits : lead;
	return static_cast<std::uint64_t>(all) & (~std::uint64_t(0) >> (64 - size_bits));
}

bool skip_scalar(const FieldClass &type, const View &view, std::uint64_t &at_bits)
{
	at_bits = aligned(at_bits, type.align_bits);
	if (!view.has(at_bits, type.size_bits))
		return false;
	if (type.slot >= 0) {
		view.slots[type.slot] = read_scalar(type, view, at_bits);
		if (type.clock >= 0)
			view.slots[type.slot + 1] = type.size_bits;
	}
	at_bits += type.size_bits;
	return true;
}

bool skip_varint(const FieldClass &type, const View &view, std::uint64_t &at_bits)
{
	const std::uint64_t begin = at_bits = aligned(at_bits, type.align_bits);
	std::uint64_t value = 0;
	if (!read_varint(type, view, at_bits, value))
		return false;
	if (type.slot >= 0) {
		view.slots[type.slot] = value;
		if (type.clock >= 0) // as many low bits of the clock as the field has
			view.slots[type.slot + 1] = std::min<std::uint64_t>((at_bits - begin) / byte_bits * 7, 64);
	}
	return true;
}

std::uint32_t unit_bytes(Encoding encoding)
{
	return encoding == Encoding::utf8 ? 1 : encoding <= Encoding::utf16be ? 2 : 4;
}

// How many whole bytes precede the first unit that is 0, at most max_bytes.
std::uint64_t bytes_before_nul(const std::byte *from, std::uint64_t max_bytes, std::uint32_t unit)
{
	std::uint64_t at = 0;
	for (; at + unit <= max_bytes; at += unit)
		if (std::all_of(from + at, from + at + unit, [](std::byte byte) { return byte == std::byte{0}; }))
			break;
	return at;
}

// Invalid characters become U+FFFD.
void convert_text(const std::byte *from, std::uint64_t size_bytes, Encoding encoding, std::string &out)
{
	const std::uint32_t unit = unit_bytes(encoding);
	const bool big_endian = encoding == Encoding::utf16be || encoding == Encoding::utf32be;
	const auto unit_at = [&](std::uint64_t at) {
		return static_cast<std::uint32_t>(read_bits(from + at, 0, unit * byte_bits, big_endian));
	};
	for (std::uint64_t at = 0; at + unit <= size_bytes; at += unit) {
		const std::uint32_t high = unit_at(at);
		if (unit == 2 && high >= 0xd800 && high < 0xdc00 && at + 2 * unit <= size_bytes)
			if (const std::uint32_t low = unit_at(at + unit); low >= 0xdc00 && low < 0xe000) {
				append_utf8(out, 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff));
				at += unit;
				continue;
			}
		append_utf8(out, high);
	}
}

bool skip_string(const FieldClass &type, const View &view, std::uint64_t &at_bits)
{
	at_bits = aligned(at_bits, type.align_bits);
	if (at_bits >= view.end_bits)
		return false;
	if (type.encoding != Encoding::utf8) {
		const std::uint64_t unit = unit_bytes(type.encoding), left = (view.end_bits - at_bits) / byte_bits;
		const std::uint64_t size = bytes_before_nul(view.packet + at_bits / byte_bits, left, unit) + unit;
		at_bits += size * byte_bits;
		return size <= left;
	}
	const std::byte *from = view.packet + at_bits / byte_bits;
	const void *nul = std::memchr(from, 0, (view.end_bits - at_bits) / byte_bits);
	if (!nul)
		return false;
	at_bits += static_cast<std::uint64_t>(static_cast<const std::byte *>(nul) - from + 1) * byte_bits;
	return true;
}

bool skip_elements(const FieldClass &type, const View &view, std::uint64_t &at_bits)
{
	const FieldClass &element = type.element.front();
	at_bits = aligned(at_bits, type.align_bits);
	std::uint64_t length = length_of(type, view, at_bits);
	if (length == 0)
		return at_bits <= view.end_bits;
	if (element.is_fixed) {
		const std::uint64_t stride = element.stride();
		if (at_bits > view.end_bits || (stride != 0 && length - 1 > (view.end_bits - at_bits) / stride))
			return false;
		at_bits = at_bits + (length - 1) * stride + element.fixed_bits;
		return at_bits <= view.end_bits;
	}
	while (length-- > 0 && !is_over(type, view, at_bits))
		if (view.slots[budget_slot]-- == 0 || !skip(element, view, at_bits))
			return false;
	return true;
}

} // namespace

std::size_t FieldClass::nodes() const
{
	std::size_t count = 1;
	for (const FieldClass &each : element)
		count += each.nodes();
	for (const Member &member : members)
		count += member.type.nodes();
	return count;
}

std::uint64_t FieldClass::stride() const
{
	return aligned(fixed_bits, align_bits);
}

void FieldClass::finish()
{
	is_fixed = false;
	fixed_bits = 0;
	for (FieldClass &each : element)
		each.finish();
	for (Member &member : members)
		member.type.finish();
	switch (kind) {
	case FieldClassKind::integer:
	case FieldClassKind::floating_point:
		is_fixed = slot < 0;
		fixed_bits = size_bits;
		break;
	case FieldClassKind::structure:
		is_fixed = std::ranges::all_of(members, [](const Member &m) { return m.type.is_fixed; });
		for (const Member &member : members)
			fixed_bits = aligned(fixed_bits, member.type.align_bits) + member.type.fixed_bits;
		break;
	case FieldClassKind::array:
		is_fixed = element.front().is_fixed || length == 0;
		if (is_fixed && length > 0)
			fixed_bits = (length - 1) * element.front().stride() + element.front().fixed_bits;
		break;
	case FieldClassKind::varint:
	case FieldClassKind::string:
	case FieldClassKind::sequence:
	case FieldClassKind::variant:
	case FieldClassKind::optional:
		break;
	}
}

// A length that is negative or needs more than 64 bits becomes larger than any content.
std::uint64_t sequence_length(const FieldClass &sequence, const View &view, std::uint64_t at_bits)
{
	constexpr std::uint64_t endless = ~std::uint64_t(0);
	if (sequence.is_to_end) {
		const FieldClass &element = sequence.element.front();
		return !element.is_fixed ? endless
		       : at_bits > view.end_bits
			   ? 0
			   : (view.end_bits - at_bits) / std::max<std::uint64_t>(element.stride(), 1);
	}
	std::uint64_t length = view.slots[sequence.slot];
	if (__builtin_mul_overflow(length, sequence.times, &length) ||
	    __builtin_add_overflow(length, sequence.plus, &length))
		return endless;
	return length;
}

std::uint64_t read_bits(const std::byte *base, std::uint64_t at_bits, std::uint32_t size_bits, bool big_endian)
{
	if (at_bits % byte_bits != 0)
		return read_odd_bits(base, at_bits, size_bits, big_endian);
	const std::byte *from = base + at_bits / byte_bits;
	switch (size_bits) {
	case 8:
		return load_exactly<std::uint8_t>(from, big_endian);
	case 16:
		return load_exactly<std::uint16_t>(from, big_endian);
	case 32:
		return load_exactly<std::uint32_t>(from, big_endian);
	case 64:
		return load_exactly<std::uint64_t>(from, big_endian);
	default:
		return read_odd_bits(base, at_bits, size_bits, big_endian);
	}
}

const Member *option_of(const FieldClass &variant, const View &view)
{
	const std::uint64_t tag = view.slots[variant.slot];
	for (const Member &option : variant.members)
		for (const LabelRange &range : option.tags)
			if (tag - range.first <= range.last - range.first)
				return &option;
	return nullptr;
}

std::uint64_t reversed_bits(std::uint64_t value, std::uint32_t size_bits)
{
	std::uint64_t made = 0;
	for (std::uint32_t bit = 0; bit < size_bits; ++bit, value >>= 1)
		made = made << 1 | (value & 1);
	return made;
}

bool read_varint(const FieldClass &type, const View &view, std::uint64_t &at_bits, std::uint64_t &value)
{
	value = 0;
	for (unsigned shift = 0; view.has(at_bits, byte_bits); shift += 7) {
		const auto byte = std::to_integer<std::uint64_t>(view.packet[at_bits / byte_bits]);
		at_bits += byte_bits;
		const std::uint64_t bits = byte & 0x7f;
		// The tenth byte has the last bit, and copies of it if the integer is signed.
		if (shift == 63 &&
		    (byte > 0x7f || (bits > 1 && !(type.is_signed && bits == 0x7f)) || (type.is_signed && bits == 1)))
			return false;
		value |= bits << shift;
		if (byte <= 0x7f) {
			if (type.is_signed && shift + 7 < 64)
				value = sign_extended(value, shift + 7);
			return true;
		}
	}
	return false;
}

double half_as_real(std::uint16_t bits)
{
	const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
	double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 0x400, exponent - 25);
	if (exponent == 0x1f)
		value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
	return bits >> 15 ? -value : value;
}

std::string_view text_at(const FieldClass &type, const View &view, std::uint64_t at_bits, std::string &scratch)
{
	at_bits = aligned(at_bits, type.align_bits);
	const std::uint64_t left = (view.end_bits - std::min(at_bits, view.end_bits)) / byte_bits;
	const std::uint64_t max_bytes =
	    type.kind == FieldClassKind::string ? left : std::min(left, length_of(type, view, at_bits));
	if (type.encoding != Encoding::utf8) {
		const std::byte *from = view.packet + at_bits / byte_bits;
		scratch.clear();
		convert_text(from, bytes_before_nul(from, max_bytes, unit_bytes(type.encoding)), type.encoding,
			     scratch);
		return scratch;
	}
	const auto *text = reinterpret_cast<const char *>(view.packet + at_bits / byte_bits);
	return {text, ::strnlen(text, max_bytes)};
}

// Fields tested by a presence precede the first member that has it, so it is evaluated once.
static bool skip_members(const FieldClass &structure, const View &view, std::uint64_t &at_bits)
{
	const void *tested = nullptr;
	bool has_it = true;
	at_bits = aligned(at_bits, structure.align_bits);
	for (const Member &member : structure.members) {
		const FieldClass *type = &member.type;
		if (type->kind == FieldClassKind::optional) {
			if (std::exchange(tested, type->presence.get()) != type->presence.get())
				has_it = is_present(*type, view);
			if (!has_it)
				continue;
			type = &type->element.front();
		}
		if (!skip(*type, view, at_bits))
			return false;
	}
	return true;
}

bool skip(const FieldClass &type, const View &view, std::uint64_t &at_bits)
{
	if (type.is_fixed) {
		at_bits = aligned(at_bits, type.align_bits);
		const bool fits = view.has(at_bits, type.fixed_bits);
		at_bits += type.fixed_bits;
		return fits;
	}
	switch (type.kind) {
	case FieldClassKind::integer:
	case FieldClassKind::floating_point:
		return skip_scalar(type, view, at_bits);
	case FieldClassKind::varint:
		return skip_varint(type, view, at_bits);
	case FieldClassKind::string:
		return skip_string(type, view, at_bits);
	case FieldClassKind::array:
	case FieldClassKind::sequence:
		return skip_elements(type, view, at_bits);
	case FieldClassKind::structure:
		return skip_members(type, view, at_bits);
	case FieldClassKind::optional:
		return !is_present(type, view) || skip(type.element.front(), view, at_bits);
	case FieldClassKind::variant:
		break;
	}
	const Member *option = option_of(type, view);
	return option && skip(option->type, view, at_bits);
}

} // namespace monitor::trace
