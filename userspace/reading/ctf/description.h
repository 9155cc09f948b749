// SPDX-License-Identifier: MIT
// The model of a trace: its clock, its event classes and their fields.
//
// Made by read_description() from the text of `metadata`; owned by Trace, which hands it out as const. Streams decode
// with it, analyses look classes and fields up by name once and then read values through FieldRef
// (reading/events/field_ref.h). There are two kinds of classes. Those of monitor's own layout (tokens) have fields at
// fixed offsets in a record of size_bytes. Those of any other layout (layout.h) have scopes, trees of field classes,
// walked where offsets vary. Immutable once read, so any number of threads may use it.
// Invariant: every fixed field of a token is wholly inside its class's size_bytes, a multiple of 8 and at least 8.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clock.h"
#include "enumeration.h"
#include "field_class.h"
#include "layout.h"
#include "monitor/token.h"
#include "skip_plan.h"

namespace monitor::trace {

enum class FieldKind : std::uint8_t { unsigned_integer, signed_integer, real, text, list };

// A field of an event; a member of a struct or of a variant's option is named a.b.
struct Field {
	std::string name;
	FieldKind kind = FieldKind::unsigned_integer;
	bool big_endian = false;
	bool is_fixed = true;                      // at offset_bits in every event: whole bytes, all inside the record
	bool is_optional = false;                  // in an option of a variant: some events lack it
	bool is_coded = false;                     // a real of 16 bits, coded as a comp_t
	std::uint8_t base = 10;                    // 2, 8, 10, 16 or dotted_base: how it is printed
	std::uint32_t offset_bits = 0;             // from Event::data
	std::uint32_t size_bits = 0;               // of an integer, a real, or a text of fixed size
	std::shared_ptr<const Enumeration> labels; // may be null

	bool is_integer() const { return kind == FieldKind::unsigned_integer || kind == FieldKind::signed_integer; }

	// For a class with scopes: the field's position in their trees.
	std::vector<std::uint32_t> path; // number of the scope, then of members
	const FieldClass *type = nullptr;
};

// Where an event comes from.
enum class Domain : std::uint8_t {
	recording, // the recorder itself: clock snapshots, thread states, the writing thread; not counted
	kernel,
	user,
};

struct EventClass {
	static constexpr std::size_t max_scopes = 3; // the stream's context, the event's context, the payload

	std::uint64_t id = 0;         // in its stream class
	std::uint32_t index = 0;      // among all classes of the traces that are read together
	std::uint32_t size_bytes = 0; // of a token and its payload; 0: any other layout
	Domain domain = Domain::user;
	std::string name;
	std::vector<Field> fields;

	// For any other layout: structures, in the order of their bits. The first one is aligned to align_bits.
	std::array<const FieldClass *, max_scopes> scopes{};
	std::uint32_t align_bits = 1;
	std::uint64_t fixed_bits = 0; // of the first scope, if is_fixed
	bool is_fixed = false;
	SkipPlan plan;               // of all scopes
	FieldClass context, payload; // the class's own scopes

	const Field *find(std::string_view field_name) const;
};

class Description {
public:
	static constexpr std::size_t max_tokens = 1u << EDC_ID_BITS; // classes of tokens

	std::array<std::uint8_t, 16> uuid{};
	bool has_uuid = false;
	bool big_endian = false;
	Clock clock;
	std::vector<Clock> clocks; // that FieldClass::clock refers to
	std::vector<std::pair<std::string, std::string>> env;
	std::unique_ptr<const Layout> layout; // nullptr: tokens
	std::string warning;                  // unknown parts that are ignored, or ""
	std::uint32_t first_index = 0;        // class indices start here: those of several traces are consecutive

	bool has_tokens() const { return !layout; }
	// The class of a token's id, or nullptr. Only the low 12 bits are used.
	const EventClass *by_id(std::uint64_t id) const { return by_id_[id & (max_tokens - 1)]; }
	// size_bytes of the id's class, or 0: a separate table saves a load before the next token is found.
	std::uint32_t size_of(std::uint64_t id) const { return size_by_id_[id & (max_tokens - 1)]; }
	// All classes of this name: a short and a long form of an event have two ids.
	std::vector<const EventClass *> find(std::string_view name) const;
	// All classes in the order of the description.
	const std::vector<std::shared_ptr<const EventClass>> &classes() const { return classes_; }
	const std::string *find_env(std::string_view name) const;

	// Adds a class of tokens. False if the id is 0, beyond 12 bits or in use.
	bool add_token(EventClass added);
	// Adds a class of any other layout; the caller has set its number.
	void add(std::shared_ptr<const EventClass> added) { classes_.push_back(std::move(added)); }

private:
	std::vector<std::shared_ptr<const EventClass>> classes_;
	std::array<const EventClass *, max_tokens> by_id_{};
	std::array<std::uint8_t, max_tokens> size_by_id_{};
};

} // namespace monitor::trace
