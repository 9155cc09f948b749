// SPDX-License-Identifier: MIT
// One event: its time, class, origin, and the values of its fields.
//
//     const poet::Field ret = trace.field("ret");             // once
//     if (const auto value = event.get<std::int64_t>(ret)) ... // per event
//
// Obtained from a Cursor or in a visitor. An Event refers to bytes of the trace: it is valid until the visitor returns
// or the cursor moves, and so is a std::string_view read from it. Copy what must outlive that. What an event does not
// have is empty, never 0. Reading a field by its handle costs a load and two shifts if the field is at a fixed offset,
// as nearly all are. Only one thread may use an Event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "trace.hpp"

namespace poet {

namespace detail {

// The tables that the events of one trace refer to. Not for programs.
struct Tables {
	const EventClass *classes = nullptr;
	const Stream *streams = nullptr;
};

struct Ref; // a field of a class, as the library reads it

// Where a field is in the events of one class.
struct Place {
	enum class How : std::uint8_t { none, shifted, other };

	How how = How::none;
	bool is_signed = false;
	std::uint8_t left = 0, right = 0; // shifts for the 8 bytes at `byte`
	std::uint32_t byte = 0;
	const Ref *ref = nullptr;
};

// Of an event whose layout is not monitor's own.
struct GenericCtf {
	const std::byte *packet = nullptr;
	std::uint64_t at_bits = 0, end_bits = 0;
	std::uint64_t *slots = nullptr;
	std::uint32_t cpu = 0; // all ones: unknown
};

struct FieldTable;
struct Access;

} // namespace detail

// A field by name, for all classes of one trace that have it. A cheap handle; any number of threads may use it.
class POET_API Field {
public:
	const std::string &name() const;

private:
	friend class Event;
	friend struct detail::Access;
	explicit Field(std::shared_ptr<const detail::FieldTable> table);

	std::shared_ptr<const detail::FieldTable> table_;
	const detail::Place *places_ = nullptr; // by class
	const detail::Tables *tables_ = nullptr;
};

// Empty: the event does not have the field, or the field is a list.
using Value = std::variant<std::monostate, std::uint64_t, std::int64_t, double, std::string_view>;

enum class Mode : std::uint8_t { user, kernel };

class Event {
public:
	// In ticks of the trace's clock.
	std::uint64_t time() const { return time_; }
	const EventClass &event_class() const { return tables_->classes[class_]; }
	std::uint32_t class_index() const { return class_; }
	const std::string &name() const { return event_class().name; }
	const Stream &stream() const { return tables_->streams[stream_]; }
	std::uint32_t stream_index() const { return stream_; }
	// The CPU it was posted on.
	std::optional<std::uint32_t> cpu() const
	{
		if (!stream().is_generic_ctf)
			return stream().cpu;
		const std::uint32_t known = static_cast<const detail::GenericCtf *>(place_)->cpu;
		return known != ~std::uint32_t(0) ? std::optional(known) : std::nullopt;
	}
	std::uint32_t level() const { return stream().level; }
	// The mode it was posted in.
	POET_API Mode mode() const;

	// Whether it has the field.
	bool has(const Field &field) const
	{
		const detail::Place &place = place_of(field);
		return place.how == detail::Place::How::shifted || has_ref(place.ref);
	}
	bool has(std::string_view name) const { return has_ref(ref_of(name)); }

	// The field's value as an integer type, double, or std::string_view (up to its first NUL). Empty if the event
	// does not have the field, the field is of another kind, or T cannot hold the value (-1 is not an unsigned).
	template <class T> std::optional<T> get(const Field &field) const
	{
		const detail::Place &place = place_of(field);
		if constexpr (std::is_integral_v<T>)
			if (place.how == detail::Place::How::shifted) [[likely]] {
				std::uint64_t word;
				std::memcpy(&word, data_ + place.byte, sizeof word);
				word <<= place.left;
				return place.is_signed ? as<T>(static_cast<std::int64_t>(word) >> place.right)
						       : as<T>(word >> place.right);
			}
		return get_ref<T>(place.ref);
	}
	// The same, but looks up the name in the class of every event.
	template <class T> std::optional<T> get(std::string_view name) const { return get_ref<T>(ref_of(name)); }

	// The value, whatever its kind. field_number: the field's index in event_class().fields.
	POET_API Value value(const Field &field) const;
	POET_API Value value(std::size_t field_number) const;
	// The elements of a list; elements that are not single values are empty. No elements if the field is not a
	// list.
	POET_API std::vector<Value> values(const Field &field) const;
	// The label of the value; empty if it has none.
	POET_API std::string_view label(const Field &field) const;
	// In readable form: the label if there is one, integers in their base, lists in brackets. "" if absent.
	POET_API std::string text_of(const Field &field) const;
	// The event's name and all its fields as NAME=VALUE.
	POET_API std::string to_text() const;

private:
	friend struct detail::Access;

	const detail::Place &place_of(const Field &field) const
	{
		static constexpr detail::Place none;
		return field.tables_ == tables_ ? field.places_[class_] : none;
	}
	template <class T, class Bits> static std::optional<T> as(Bits value)
	{
		return std::in_range<T>(value) ? std::optional(static_cast<T>(value)) : std::nullopt;
	}
	template <class T> std::optional<T> get_ref(const detail::Ref *ref) const
	{
		if constexpr (std::is_same_v<T, std::string_view>) {
			return text(ref);
		} else if constexpr (std::is_same_v<T, double>) {
			return real(ref);
		} else {
			static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>,
				      "an integer type, double or std::string_view");
			std::uint64_t bits = 0;
			bool is_signed = false;
			if (!integer(ref, bits, is_signed))
				return std::nullopt;
			return is_signed ? as<T>(static_cast<std::int64_t>(bits)) : as<T>(bits);
		}
	}
	// nullptr: no field.
	POET_API bool has_ref(const detail::Ref *ref) const;
	POET_API bool integer(const detail::Ref *ref, std::uint64_t &bits, bool &is_signed) const;
	POET_API std::optional<double> real(const detail::Ref *ref) const;
	POET_API std::optional<std::string_view> text(const detail::Ref *ref) const;
	POET_API const detail::Ref *ref_of(std::string_view name) const;

	std::uint64_t time_;
	const std::byte *data_;
	const void *place_; // its packet, or its detail::GenericCtf
	const detail::Tables *tables_;
	std::uint32_t class_, stream_;
};

// A position in a stream where events are missing: they were lost while recording, or their bytes are damaged.
struct Gap {
	const Stream *stream = nullptr;
	std::uint64_t from = 0, to = 0;    // ticks
	std::optional<std::uint64_t> lost; // number of events; empty: not counted
};

} // namespace poet
