// SPDX-License-Identifier: MIT
// The model of a trace: its clock, its event classes and where their fields lie in a token.
//
// Made by interpret() from the text of `metadata`; owned by Trace, which hands it out as const. Streams decode with it
// (by_id), analyses look classes and fields up by name once and then read values through FieldRef (event.h).
// Immutable once read, so any number of threads may use it.
// Invariant: every field lies wholly inside its class's size_bytes, and size_bytes is a multiple of 8 and at least 8.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "monitor/token.h"

namespace monitor::trace {

struct Clock {
	std::string name;
	std::uint64_t frequency_hz = 1'000'000'000;
	std::int64_t offset_s = 0; // trace time 0 in seconds since the epoch ...
	std::uint64_t offset = 0;  // ... plus so many ticks

	// A duration in ticks as whole nanoseconds, rounded down; saturates.
	std::uint64_t to_ns(std::uint64_t ticks) const;
	// Trace time as nanoseconds since the epoch; saturates.
	std::int64_t wall_ns(std::uint64_t time) const;
	// The first trace time at or after this wall time; 0 before the clock's origin.
	std::uint64_t from_wall_ns(std::int64_t wall_ns) const;
	// The first tick count that lasts at least so many nanoseconds; saturates.
	std::uint64_t to_ticks(std::uint64_t duration_ns) const;
};

// Names of values or ranges of values. Labels are sorted and do not overlap.
class Enumeration {
public:
	struct Label {
		std::uint64_t first, last; // of a signed container: sign-extended
		std::string text;
	};

	// `labels` in any order. ok() is false if two overlap.
	Enumeration(std::vector<Label> labels, bool is_signed);

	bool ok() const { return ok_; }
	// The label of a value, or nullptr.
	const std::string *find(std::uint64_t value) const;
	const std::vector<Label> &labels() const { return labels_; }

private:
	std::uint64_t key(std::uint64_t value) const { return value ^ sign_; } // orders signed values as unsigned ones

	std::vector<Label> labels_;
	std::vector<std::uint16_t> dense_; // of small values: index of the label + 1, 0 for none
	std::uint64_t sign_;
	bool ok_ = true;
};

enum class FieldKind : std::uint8_t { unsigned_integer, signed_integer, text };

struct Field {
	std::string name;
	FieldKind kind = FieldKind::unsigned_integer;
	std::uint8_t base = 10;        // 10 or 16: how people read it
	std::uint32_t offset_bits = 0; // from the start of the token
	std::uint32_t size_bits = 0;
	std::shared_ptr<const Enumeration> labels; // may be null
};

struct EventClass {
	std::uint16_t id = 0;
	std::uint32_t size_bytes = 8; // token and payload
	std::string name;
	std::vector<Field> fields;

	const Field *find(std::string_view field_name) const;
};

class Description {
public:
	static constexpr std::size_t max_classes = 1u << EDC_ID_BITS;

	std::array<std::uint8_t, 16> uuid{};
	Clock clock;
	std::vector<std::pair<std::string, std::string>> env;

	// The class of an id, or nullptr. Only the low 12 bits count.
	const EventClass *by_id(std::uint64_t id) const { return by_id_[id & (max_classes - 1)]; }
	// Its size_bytes, or 0: a table of its own, so that the next token is found one load earlier.
	std::uint32_t size_of(std::uint64_t id) const { return size_by_id_[id & (max_classes - 1)]; }
	// All classes of this name: a name may have a short and a long form under two ids.
	std::vector<const EventClass *> find(std::string_view name) const;
	// All classes in the order of the description.
	const std::vector<std::unique_ptr<const EventClass>> &classes() const { return classes_; }

	// All ids are below this: the size of a table by id.
	std::size_t id_limit() const { return id_limit_; }

	// False if the id is 0, beyond 12 bits or taken.
	bool add(EventClass added);

private:
	std::vector<std::unique_ptr<const EventClass>> classes_;
	std::size_t id_limit_ = 0;
	std::array<const EventClass *, max_classes> by_id_{};
	std::array<std::uint8_t, max_classes> size_by_id_{};
};

} // namespace monitor::trace
