// SPDX-License-Identifier: MIT
// A trace, opened for reading, and its description: event classes, their fields, streams, the clock.
//
//     const poet::Trace trace("DIRECTORY");
//     for (const poet::EventClass &cls : trace.classes()) ...
//
// Read the events with a Cursor (cursor.hpp) or a visit (visit.hpp). A Trace is a handle: copies are cheap and refer to
// the same trace, and everything made from it keeps it open. Any number of threads may use and read one Trace at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "export.hpp"

namespace poet {

class Field;
namespace detail {
class Core;
}

enum class Kind : std::uint8_t { unsigned_integer, signed_integer, real, text, list };

// The name of a value or of a range of values, both ends included. For a signed field: as std::int64_t.
struct Label {
	std::uint64_t first = 0, last = 0;
	std::string text;
};

// One field of an event class; a member of a structure, or of the option of a variant, is named a.b.
struct FieldInfo {
	std::string name;
	Kind kind = Kind::unsigned_integer;
	std::uint8_t base = 10;      // 2, 8, 10 or 16: the base to print an integer in
	bool may_be_absent = false;  // some events of the class do not have it
	std::uint32_t size_bits = 0; // of an integer, a real, or a text of fixed size; else 0
	std::vector<Label> labels;   // of an integer; often none
};

// Origin of a class's events; `recording`: those that describe the recording itself (clock snapshots, thread states).
enum class Domain : std::uint8_t { recording, kernel, user };

struct EventClass {
	std::uint32_t index = 0; // in Trace::classes()
	std::string name;        // several classes may share one: short and long forms, or several programs
	Domain domain = Domain::user;
	std::vector<FieldInfo> fields;

	// nullptr if it has no field of this name.
	POET_API const FieldInfo *find(std::string_view field_name) const;
};

// One file: the events of one source, in time order.
struct Stream {
	std::uint32_t index = 0;          // in Trace::streams(); at equal times, events of the lower index come first
	std::string name;                 // of the file
	std::optional<std::uint32_t> cpu; // empty: the recorder's own stream, or unknown
	std::uint32_t level = 0;          // how many probes were in progress; 16 for programs' own events
	std::uint64_t size_bytes = 0;
	bool is_generic_ctf = false; // its layout is not monitor's own; its events may name the CPU
};

class POET_API Trace {
public:
	// The directory of a trace: monitor's own, any CTF 1.8, or one with several traces below it. Throws Error.
	explicit Trace(const std::string &directory);

	const std::vector<EventClass> &classes() const;
	const std::vector<Stream> &streams() const;
	const Clock &clock() const;
	// What the trace says about its origin: pairs of name and value.
	const std::vector<std::pair<std::string, std::string>> &environment() const;

	// All classes of this name; empty if there are none.
	std::vector<const EventClass *> find(std::string_view class_name) const;
	// The field of this name, in all classes that have it. Throws Error if no event of the trace has such a field.
	Field field(std::string_view name) const;
	std::optional<Field> find_field(std::string_view name) const;

	// The number of events in the trace. The first call for a trace reads all of it.
	std::uint64_t event_count() const;

	// What is wrong with the trace, as far as it was read: "STREAM, packet N at byte M: SENTENCE". Each damaged
	// packet is reported once, in the order found, 1000 at most.
	std::vector<std::string> problems() const;
	// The number of packets that have a problem.
	std::uint64_t problem_count() const;

	const std::shared_ptr<detail::Core> &core() const { return core_; } // for the library's own headers

private:
	std::shared_ptr<detail::Core> core_;
};

} // namespace poet
