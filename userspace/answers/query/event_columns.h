// SPDX-License-Identifier: MIT
// The columns of a table of events: what every event has, then the fields of its classes; and how to read a value.
//
// Made once per table when a query names it (event_table.h). Two classes of one name are one table with the fields of
// both. Const once made; reading a value needs no search by name.
// Invariant: column names differ even if case is ignored, as SQL requires: what every event has keeps its name; a field
// of the same name becomes event.NAME. There is a host if the trace has several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constraint.h"
#include "reading/ctf/field_text.h"
#include "reading/events/event.h"
#include "reading/events/field_ref.h"
#include "reading/filter/value_source.h"

namespace monitor::query {

struct EventColumn {
	enum class From : std::uint8_t {
		time_ns,
		time,
		wall_ns,
		ticks,
		cpu,
		level,
		mode,
		name,
		stream,
		tid,
		thread,
		tgid,
		filter, // the argument of the table
		fields, // as JSON
		context,
		host,
		field,
		label, // of a field's value
	};

	std::string name;
	From from = From::field;
	std::string type; // of the column in SQL
	bool is_hidden = false;
	bool is_derived = false; // in some classes it is derived from earlier events

	bool is_time() const { return from <= From::ticks; }
	// Known only after reading the trace from its start.
	bool is_of_thread() const
	{
		return from == From::tid || from == From::thread || from == From::tgid || is_derived;
	}
};

// A field of one class, for a column.
struct FieldColumn {
	const trace::Field *field = nullptr; // nullptr: the class does not have it
	trace::FieldRef value;
	std::optional<filter::Resolved> derived;       // alternatively: `field` is another class's
	std::unique_ptr<const trace::FieldClass> list; // for a list: a structure with only this list
	std::unique_ptr<const trace::FieldText> list_text;

	Type type() const
	{
		return field->kind == trace::FieldKind::text   ? Type::text
		       : field->kind == trace::FieldKind::real ? Type::real
							       : Type::integer;
	}
	bool is_in(const trace::Event &event, const filter::Running &running) const
	{
		return field && (derived               ? derived->source.is_in(event, running)
				 : !field->is_optional ? true
						       : value.is_in(event));
	}
	// The values in an event that has the field.
	std::int64_t number(const trace::Event &event, const filter::Running &running) const
	{
		std::uint64_t bits = 0;
		if (!derived)
			return value.get<std::int64_t>(event);
		derived->source.bits(event, running, bits);
		return static_cast<std::int64_t>(bits);
	}
	std::string_view text(const trace::Event &event, const filter::Running &running) const
	{
		std::string_view characters;
		if (!derived)
			return value.get<std::string_view>(event);
		derived->source.text(event, running, characters);
		return characters;
	}
	const std::string *label(const trace::Event &event, const filter::Running &running) const
	{
		if (!derived)
			return value.label(event);
		return derived->labels && derived->source.is_labelled(event, running)
			   ? derived->labels->find(static_cast<std::uint64_t>(number(event, running)))
			   : nullptr;
	}
};

class EventColumns {
public:
	static constexpr std::size_t max_columns = 1900; // SQLite allows 2000

	// For all events, without columns for fields.
	explicit EventColumns(const trace::Description &description, bool has_hosts = false);
	// For the classes of one name.
	EventColumns(const trace::Description &description, std::vector<const trace::EventClass *> classes,
		     bool has_hosts = false);

	const std::vector<EventColumn> &columns() const { return columns_; }
	const std::vector<const trace::EventClass *> &classes() const { return classes_; }
	// nullptr: not in this table.
	const FieldColumn *field(std::size_t column, const trace::EventClass &cls) const
	{
		const std::uint32_t slot = slots_[cls.index];
		return slot == none || column < first_field_ ? nullptr : &fields_[slot][column - first_field_];
	}
	bool has(const trace::EventClass &cls) const { return slots_[cls.index] != none; }
	// "CREATE TABLE x(...)"
	std::string declaration() const;

private:
	static constexpr std::uint32_t none = ~0u;

	void add_derived(const trace::Description &description, const trace::EventClass &cls, const std::string &name,
			 std::pair<std::size_t, std::size_t> columns);
	void add(const std::string &name, EventColumn::From from, const char *type);
	bool is_taken(const std::string &name) const;

	std::vector<EventColumn> columns_;
	std::vector<const trace::EventClass *> classes_;
	std::vector<std::uint32_t> slots_;             // by class index
	std::vector<std::vector<FieldColumn>> fields_; // by slot, then by column, from the first field
	std::size_t first_field_ = 0;
};

// "NAME" as SQL quotes it.
std::string in_quotes(const std::string &name);

} // namespace monitor::query
