// SPDX-License-Identifier: MIT
#include "event_bits.h"

#include <cstring>

#include "tsdl_text.h"

namespace monitor::collection {
namespace {

using trace::FieldClass;
using FieldClassKind = FieldClass::Kind;

} // namespace

bool EventBits::encode(const trace::Event &event, bool is_open)
{
	bytes_.clear();
	present_.clear();
	unused_bits_ = 0;
	elements_ = 0;
	is_open_ = is_open;
	is_too_large_ = false;
	view_ = event.view();
	view_.slots[trace::budget_slot] = ~std::uint64_t(0);
	at_bits_ = event.at_bits;
	put_structure(event.cls->payload);
	return !is_too_large_;
}

void EventBits::put_bytes(const void *from, std::size_t size_bytes)
{
	if (is_too_large_ || size_bytes > max_bytes - bytes_.size()) {
		is_too_large_ = true;
		return;
	}
	const auto *bytes = static_cast<const std::byte *>(from);
	bytes_.insert(bytes_.end(), bytes, bytes + size_bytes);
}

std::size_t EventBits::put_length()
{
	constexpr std::uint32_t none = 0;
	const std::size_t at = bytes_.size();
	put_bytes(&none, sizeof none);
	unused_bits_ = 0;
	return at;
}

void EventBits::set_length(std::size_t at, std::uint32_t length)
{
	if (!is_too_large_)
		std::memcpy(bytes_.data() + at, &length, sizeof length);
}

void EventBits::put_structure(const FieldClass &type)
{
	at_bits_ = trace::aligned(at_bits_, type.align_bits);
	unused_bits_ = 0;
	for (const trace::Member &member : type.members)
		if (member.type.is_hidden)
			trace::skip(member.type, view_, at_bits_);
		else
			put_member(member.type);
}

void EventBits::put_member(const FieldClass &type)
{
	if (type.kind != FieldClassKind::optional)
		return put(type);
	const FieldClass &element = type.element.front();
	const bool has_value = trace::is_present(type, view_);
	if (!is_open_) {
		present_ += has_value ? '1' : '0';
		return has_value ? put(element) : void();
	}
	const std::size_t length = put_length();
	if (!has_value)
		return;
	if (is_list(element))
		return set_length(length, put_elements(element));
	put(element);
	set_length(length, 1);
}

void EventBits::put(const FieldClass &type)
{
	if (type.is_scalar())
		return put_scalar(type);
	if (type.kind == FieldClassKind::structure)
		return put_structure(type);
	unused_bits_ = 0;
	if (type.is_text) {
		std::string converted;
		const std::string_view text = trace::text_at(type, view_, at_bits_, converted);
		put_bytes(text.data(), text.size());
		put_bytes("", 1);
		trace::skip(type, view_, at_bits_);
	} else if (type.kind == FieldClassKind::array) {
		put_elements(type);
	} else {
		const std::size_t length = put_length();
		set_length(length, put_elements(type));
	}
}

void EventBits::put_scalar(const FieldClass &type)
{
	at_bits_ = trace::aligned(at_bits_, type.align_bits);
	std::uint64_t value = trace::read_scalar(type, view_, at_bits_);
	if (type.slot >= 0)
		view_.slots[type.slot] = value;
	at_bits_ += type.size_bits;
	if (type.kind == FieldClassKind::floating_point &&
	    type.size_bits == trace::comp_t_bits) { // CTF 1.8 has no such type
		const double real = trace::as_real(value, type.size_bits, type.is_coded);
		unused_bits_ = 0;
		return put_bytes(&real, sizeof real);
	}
	value &= ~std::uint64_t(0) >> (64 - type.size_bits);
	const std::uint32_t size_bytes = (type.size_bits + 7) / 8;
	put_bytes(&value, size_bytes); // the low bytes are first
	unused_bits_ = size_bytes * 8 - type.size_bits;
}

std::uint32_t EventBits::put_elements(const FieldClass &type)
{
	at_bits_ = trace::aligned(at_bits_, type.align_bits);
	const std::uint64_t length = trace::length_of(type, view_, at_bits_);
	const FieldClass &element = type.element.front();
	if (element.kind == FieldClassKind::integer && element.is_fixed && element.size_bits == 8 &&
	    at_bits_ % 8 == 0) {
		put_bytes(view_.packet + at_bits_ / 8, length);
		at_bits_ += length * 8;
		return static_cast<std::uint32_t>(length);
	}
	const bool was_open = is_open_;
	is_open_ = true; // its elements may differ
	std::uint32_t count = 0;
	for (; count < length && !is_too_large_ && !trace::is_over(type, view_, at_bits_); ++count) {
		is_too_large_ = ++elements_ > max_bytes;
		put(element);
	}
	is_open_ = was_open;
	return count;
}

} // namespace monitor::collection
