// SPDX-License-Identifier: MIT
// Where a name's value comes from: a field of the event's class, or a property that every event has.
// resolve() looks a name up in one event class when the expression is compiled for it; the ValueSource is then read per
// event. Some events have a short form, without fields whose values follow from earlier events: sys_exit without its
// call, which its sys_enter has, and sched_process_exit without the thread's name. Given the description, which has the
// long form, resolve() finds such values like fields. A value that an event lacks - the CPU of the recorder's own
// events, a thread that no event named - is absent, never 0. Invariant: a number of a ValueSource is within min and max
// of its Resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expression.h"
#include "known.h"
#include "number.h"
#include "reading/events/field_ref.h"
#include "reading/events/threads.h"

namespace monitor::filter {

// What an expression may use besides the event: the thread that was running on its CPU, if known, and the values of the
// caller's names (known.h). Names of threads are valid during the call.
struct Running {
	std::int64_t tid = trace::Threads::unknown;
	const trace::Threads *threads = nullptr;
	Knowledge *knowledge = nullptr;
};

// Who evaluates conditions: a reader has earlier events, a probe only the current one.
enum class Evaluator : std::uint8_t { reader, probe };

struct ValueSource {
	enum class From : std::uint8_t {
		// numbers
		field,
		optional_field, // events of the class may lack it
		real_field,
		list_field, // cannot be compared
		cpu,
		mode,
		level,
		time,
		tid,
		known_number,
		call_id, // of the thread's current call
		call_abi,
		// texts
		text_field,
		optional_text_field,
		name,
		stream,
		thread,
		known_text,
		thread_name, // of the thread that `field` names
	};

	From from = From::field;
	bool is_signed = false;
	std::uint32_t index = 0; // in KnownNames
	trace::FieldRef field;

	// A number as 64 bits, `time` in ticks. False: the event has none.
	bool bits(const trace::Event &event, const Running &running, std::uint64_t &value) const
	{
		switch (from) {
		case From::field:
			value = field.get(event);
			return true;
		case From::optional_field:
			value = field.get(event);
			return field.is_in(event);
		case From::cpu:
			value = event.cpu();
			return event.has_cpu();
		case From::mode:
			value = event.mode();
			return true;
		case From::level:
			value = event.level();
			return true;
		case From::time:
			value = event.time;
			return true;
		case From::tid:
			value = static_cast<std::uint64_t>(running.tid);
			return running.tid != trace::Threads::unknown;
		case From::known_number:
			return running.knowledge && running.knowledge->number(index, value);
		case From::call_id:
			value = call(event, running).id;
			return call(event, running).is_known;
		case From::call_abi:
			value = call(event, running).abi;
			return call(event, running).is_known;
		default:
			return false;
		}
	}

	// Whether the value is derived from earlier events.
	bool is_derived() const { return from == From::call_id || from == From::call_abi || from == From::thread_name; }
	// Whether the labels apply to the value: calls of other ABIs have other names.
	bool is_labelled(const trace::Event &event, const Running &running) const;

	// Whether the event has a value, of any type.
	bool is_in(const trace::Event &event, const Running &running) const
	{
		std::uint64_t number = 0;
		std::string_view characters;
		if (from == From::real_field || from == From::list_field)
			return field.is_in(event);
		return from >= From::text_field ? text(event, running, characters) : bits(event, running, number);
	}

	// False: the event has none.
	bool text(const trace::Event &event, const Running &running, std::string_view &value) const;

private:
	static trace::Threads::Call call(const trace::Event &event, const Running &running)
	{
		return running.threads ? running.threads->call(running.tid, event.stream->machine)
				       : trace::Threads::Call();
	}
};

// A list can only be tested for presence.
enum class Type : std::uint8_t { none, number, text, real, list };

// What a name means in one event class.
struct Resolved {
	Type type = Type::none; // none: the class has no such field
	bool may_be_absent = false;
	ValueSource source;
	Integer min = 0, max = 0;                   // of numbers
	const trace::Enumeration *labels = nullptr; // of numbers, or nullptr
};

// `derives_from`: also finds values that can be derived from earlier events.
Resolved resolve(const Expression &name, const trace::EventClass &cls, const KnownNames &known = {},
		 const trace::Description *derives_from = nullptr);

// The caller's name that the expression refers to; nullptr: none.
const KnownName *find(const Expression &name, const KnownNames &known);

// Parses a name as in expressions: with `event.` it is a field, even if every event has a property of this name.
Expression name_expression(const std::string &name);
// The source of a key that probes compare as a number; `thread` means tid. nullopt: the class lacks it.
std::optional<ValueSource> key_source(const std::string &name, const trace::EventClass &cls);

// Its name in expressions.
std::string name_of(const ValueSource &source);
// Whether the name is a property of every event, not a field.
bool is_common_property(const Expression &name);
// The names of these properties.
const std::vector<std::string_view> &common_properties();

} // namespace monitor::filter
