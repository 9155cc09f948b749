// SPDX-License-Identifier: MIT
// One event as analyses see it, and how its fields are read.
//
// merge() (merge.h) hands `const Event &` to its visitor; the event lies in the mapped stream and is valid during the
// call. A FieldRef is made once per class and field, then get() is a load, two shifts and a mask.
// Invariant: get() never reads outside the record of the class that the reference was made for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "description.h"
#include "monitor/ring.h"
#include "monitor/token.h"

namespace monitor::trace {

static_assert(std::endian::native == std::endian::little, "traces are read where they were written: little endian");

struct StreamInfo {
	std::uint32_t index = 0; // in Trace::streams()
	std::uint32_t cpu = 0;
	std::uint32_t level = 0;
	std::string name; // of the file

	bool has_cpu() const { return cpu != EDC_CPU_UNKNOWN; }
	// Of a process's own events: the user card's.
	bool is_user() const { return level == EDC_LEVEL_USER; }
	// The recorder's own.
	bool is_recorder() const { return !has_cpu() && !is_user(); }
};

template <class T> T load(const std::byte *from)
{
	T value;
	std::memcpy(&value, from, sizeof value);
	return value;
}

struct Event {
	const EventClass *cls = nullptr;
	const std::byte *data = nullptr; // the token; cls->size_bytes are readable
	std::uint64_t time = 0;          // full 64 bits, in ticks of the trace's clock
	const StreamInfo *stream = nullptr;
	const std::byte *packet = nullptr; // its header, EDC_BLOCK_HEADER readable bytes

	std::uint32_t cpu() const { return stream->cpu; }
	// Of a class that describes the recording itself: syncs, threads' states, which thread writes. Not counted.
	bool is_control() const { return cls->id < EDC_ID_KERNEL_FIRST; }
	std::uint32_t level() const { return stream->level; }
	std::uint32_t mode() const { return edc_token_mode(load<std::uint64_t>(data)); } // EDC_MODE_*
	// The thread that ran when the event's packet was opened: not always the one that runs now.
	std::uint32_t packet_tid() const { return load<std::uint32_t>(packet + offsetof(edc_block, tid)); }
	// The process that wrote the packet, in streams of user cards.
	std::uint32_t packet_process() const { return load<std::uint32_t>(packet + offsetof(edc_block, process)); }
	// The packet's first event: packet_tid() runs.
	bool opens_packet() const { return data == packet + EDC_BLOCK_HEADER; }
};

class FieldRef {
public:
	FieldRef() = default; // of no field: gives 0 and ""
	FieldRef(const EventClass &cls, const Field &field) : labels_(field.labels.get())
	{
		if (field.kind == FieldKind::text) {
			text_byte_ = field.offset_bits / 8;
			text_bytes_ = field.size_bits / 8;
		} else {
			// one 8-byte load that ends with the record at the latest
			byte_ = std::min(field.offset_bits / 8, cls.size_bytes - 8);
			const std::uint32_t shift = field.offset_bits - byte_ * 8;
			left_ = static_cast<std::uint8_t>(64 - field.size_bits - shift);
			right_ = static_cast<std::uint8_t>(64 - field.size_bits);
			mask_ = ~std::uint64_t(0);
			signed_ = field.kind == FieldKind::signed_integer;
		}
		present_ = true;
	}
	// Of no field if the class has none of this name.
	FieldRef(const EventClass &cls, std::string_view name)
	{
		if (const Field *field = cls.find(name))
			*this = FieldRef(cls, *field);
	}

	explicit operator bool() const { return present_; }

	// An integer field as any integer type (sign-extended if the field is signed), a text field as string_view,
	// trimmed at its first NUL. An integer of a text field is 0, the text of an integer field is "".
	template <class T = std::uint64_t> T get(const Event &event) const
	{
		if constexpr (std::is_same_v<T, std::string_view>) {
			const auto *text = reinterpret_cast<const char *>(event.data + text_byte_);
			return {text, ::strnlen(text, text_bytes_)};
		} else {
			static_assert(std::is_integral_v<T>);
			const std::uint64_t moved = load<std::uint64_t>(event.data + byte_) << left_;
			const std::uint64_t value =
			    signed_ ? static_cast<std::uint64_t>(static_cast<std::int64_t>(moved) >> right_)
				    : moved >> right_;
			return static_cast<T>(value & mask_);
		}
	}

	// The label of the field's value, or nullptr.
	const std::string *label(const Event &event) const { return labels_ ? labels_->find(get(event)) : nullptr; }

private:
	std::uint32_t byte_ = 0;
	std::uint32_t text_byte_ = 0;
	std::uint32_t text_bytes_ = 0;
	std::uint8_t left_ = 0;
	std::uint8_t right_ = 0;
	bool signed_ = false;
	bool present_ = false;
	std::uint64_t mask_ = 0;
	const Enumeration *labels_ = nullptr;
};

} // namespace monitor::trace
