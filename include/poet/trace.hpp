// SPDX-License-Identifier: MIT
// A trace, opened for reading, and what its description says: event classes, their fields, streams, the clock.
//
//     const poet::Trace trace("DIRECTORY");
//     for (const poet::EventClass &cls : trace.classes()) ...
//
// The events are read by a Cursor (cursor.hpp) or by visits (visit.hpp). A Trace is a handle: copies are cheap and mean
// the same trace, and what is made of it keeps it open. Any number of threads may use one Trace, and read it, at once.
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

// The name of a value or of a range of values; both ends are included. Of a signed field: as std::int64_t.
struct Label {
	std::uint64_t first = 0, last = 0;
	std::string text;
};

// One field of an event class; what is in a structure or in the option of a variant is called a.b.
struct FieldInfo {
	std::string name;
	Kind kind = Kind::unsigned_integer;
	std::uint8_t base = 10;      // 2, 8, 10 or 16: how people read an integer
	bool may_be_absent = false;  // some events of the class do not have it
	std::uint32_t size_bits = 0; // of an integer, a real, or a text of fixed size; else 0
	std::vector<Label> labels;   // of an integer; often none
};

// Who made the events of a class: `recording` are those that describe the recording itself (syncs, states of threads).
enum class Domain : std::uint8_t { recording, kernel, user };

struct EventClass {
	std::uint32_t index = 0; // in Trace::classes()
	std::string name;        // several classes may have one: of short and long forms, of several programs
	Domain domain = Domain::user;
	std::vector<FieldInfo> fields;

	// nullptr: it has no field of this name.
	POET_API const FieldInfo *find(std::string_view field_name) const;
};

// A file of events of one source, in the order of time.
struct Stream {
	std::uint32_t index = 0;          // in Trace::streams(); of events of the same time the lower one's come first
	std::string name;                 // of the file
	std::optional<std::uint32_t> cpu; // none: the recorder's own, or not known
	std::uint32_t level = 0;          // how many probes were in progress; 16 of programs' own events
	std::uint64_t size_bytes = 0;
	bool is_described = false; // of another layout than monitor's own: events may tell the cpu
};

class POET_API Trace {
public:
	// The directory of a trace: monitor's own, any CTF 1.8, or one with several traces below it. Throws Error.
	explicit Trace(const std::string &directory);

	const std::vector<EventClass> &classes() const;
	const std::vector<Stream> &streams() const;
	const Clock &clock() const;
	// What the trace says of its origin: pairs of a name and a value.
	const std::vector<std::pair<std::string, std::string>> &environment() const;

	// All classes of this name; empty: there is none.
	std::vector<const EventClass *> find(std::string_view class_name) const;
	// The field of this name in whichever class has it. Throws Error: no event of the trace has such a field.
	Field field(std::string_view name) const;
	std::optional<Field> find_field(std::string_view name) const;

	// How many events the trace has. The first call in the life of the trace reads all of it.
	std::uint64_t event_count() const;

	// What is wrong with the trace, as far as it was read: "STREAM, packet N at byte M: SENTENCE". Each damaged
	// packet is told once, in the order found, and 1000 at most.
	std::vector<std::string> problems() const;
	// How many packets have a problem.
	std::uint64_t problem_count() const;

	const std::shared_ptr<detail::Core> &core() const { return core_; } // for the library's own headers

private:
	std::shared_ptr<detail::Core> core_;
};

} // namespace poet
