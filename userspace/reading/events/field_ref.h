// SPDX-License-Identifier: MIT
// Reads a field's value from an event.
//
// Made once per class and field by the code that analyses, filters or prints. For a field at a fixed offset get() is a
// load, two shifts and a mask; any other is found by walking the event from its first scope. Invariant: get() never
// reads outside the event of the class that the reference was made for.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "event.h"

namespace monitor::trace {

// Where a field begins in an event of its class, aligned. False: this event lacks it (the option of a variant).
bool locate(const Field &field, const Event &event, std::uint64_t &at_bits);

class FieldRef {
public:
	FieldRef() = default; // no field: get() returns 0 or ""
	FieldRef(const EventClass &cls, const Field &field);
	// No field if the class has none of this name.
	FieldRef(const EventClass &cls, std::string_view name)
	{
		if (const Field *field = cls.find(name))
			*this = FieldRef(cls, *field);
	}

	explicit operator bool() const { return how_ != How::none; }
	// Whether the event, which is of the class, has the field.
	bool is_in(const Event &event) const
	{
		std::uint64_t at_bits = 0;
		return how_ != How::none && (how_ != How::walked || locate(*field_, event, at_bits));
	}

	// An integer field as any integer type (sign-extended if the field is signed), a real as double, a text field
	// as string_view, trimmed at its first NUL. If the field is of another kind or not in the event: 0 or "". A
	// text in UTF-16 or UTF-32 is converted, and lasts until this thread has converted 63 others.
	template <class T = std::uint64_t> T get(const Event &event) const
	{
		if constexpr (std::is_same_v<T, std::string_view>) {
			if (how_ != How::fixed_text)
				return how_ == How::walked ? walked_text(event) : std::string_view();
			const auto *text = reinterpret_cast<const char *>(event.data + text_byte_);
			return {text, ::strnlen(text, text_bytes_)};
		} else if constexpr (std::is_same_v<T, double>) {
			return real(event);
		} else {
			static_assert(std::is_integral_v<T>);
			if (how_ != How::shifted) [[unlikely]]
				return static_cast<T>(slow_bits(event));
			const std::uint64_t moved = load<std::uint64_t>(event.data + byte_) << left_;
			const std::uint64_t value =
			    signed_ ? static_cast<std::uint64_t>(static_cast<std::int64_t>(moved) >> right_)
				    : moved >> right_;
			return static_cast<T>(value & mask_);
		}
	}

	// The position of an integer if get() is one 8-byte load from Event::data + byte, shifted left, then right.
	struct Shifts {
		std::uint32_t byte = 0;
		std::uint8_t left = 0, right = 0;
	};
	std::optional<Shifts> shifts() const
	{
		return how_ == How::shifted ? std::optional(Shifts{byte_, left_, right_}) : std::nullopt;
	}

	// nullptr: no field.
	const Field *field() const { return field_; }

	// The label of the field's value, or nullptr.
	const std::string *label(const Event &event) const { return labels_ ? labels_->find(get(event)) : nullptr; }

private:
	enum class How : std::uint8_t {
		none,
		shifted,    // one 8-byte load within the record
		fixed_text, // at a fixed offset
		careful,    // at a fixed offset, but such a load could exceed the record
		walked,
	};

	std::uint64_t slow_bits(const Event &event) const;
	std::string_view walked_text(const Event &event) const;
	double real(const Event &event) const;

	std::uint32_t byte_ = 0;
	std::uint32_t text_byte_ = 0;
	std::uint32_t text_bytes_ = 0;
	std::uint8_t left_ = 0;
	std::uint8_t right_ = 0;
	bool signed_ = false;
	How how_ = How::none;
	std::uint64_t mask_ = 0;
	const Enumeration *labels_ = nullptr;
	const Field *field_ = nullptr; // used if not shifted
};

} // namespace monitor::trace
