// SPDX-License-Identifier: MIT
#include "source.h"

#include <algorithm>
#include <limits>

namespace monitor::filter {
namespace {

using From = Source::From;

struct Known {
	std::string_view name;
	From from;
	bool may_be_absent = false;
	Integer greatest = std::numeric_limits<std::uint32_t>::max();
};

// Properties that every event has, besides its fields.
constexpr Known known_names[] = {
    {"name", From::name},
    {"cpu", From::cpu, true},
    {"mode", From::mode, false, 1},
    {"level", From::level},
    {"time", From::time, false, max_integer},
    {"stream", From::stream},
    {"tid", From::tid, true, std::numeric_limits<std::int64_t>::max()},
    {"thread", From::thread, true},
};

const Known *find(const Expression &name)
{
	const auto *found = std::find_if(std::begin(known_names), std::end(known_names),
					 [&](const Known &known) { return known.name == name.text; });
	return name.is_field || found == std::end(known_names) ? nullptr : found;
}

const trace::Enumeration *modes()
{
	static const trace::Enumeration labels(
	    {{EDC_MODE_USER, EDC_MODE_USER, "user"}, {EDC_MODE_KERNEL, EDC_MODE_KERNEL, "kernel"}}, false);
	return &labels;
}

Resolved of_every_event(const Known &known)
{
	Resolved made;
	made.type = known.from >= From::text_field ? Type::text : Type::number;
	made.may_be_absent = known.may_be_absent;
	made.source.from = known.from;
	made.source.is_signed = known.from == From::tid;
	made.greatest = known.greatest;
	if (known.from == From::tid)
		made.least = std::numeric_limits<std::int64_t>::min();
	if (known.from == From::mode)
		made.labels = modes();
	return made;
}

} // namespace

bool Source::text(const trace::Event &event, const Running &running, std::string_view &value) const
{
	if (from == From::thread) {
		const trace::Threads::Info *known =
		    running.threads ? running.threads->name(running.tid, event.stream->machine) : nullptr;
		value = known ? known->view() : std::string_view();
		return known != nullptr;
	}
	value = from == From::text_field || from == From::optional_text_field ? field.get<std::string_view>(event)
		: from == From::name                                          ? std::string_view(event.cls->name)
									      : std::string_view(event.stream->name);
	return from != From::optional_text_field || field.is_in(event);
}

Resolved resolve(const Expression &name, const trace::EventClass &cls)
{
	if (const Known *known = find(name))
		return of_every_event(*known);
	Resolved made;
	const trace::Field *field = cls.find(name.text);
	if (!field)
		return made;
	made.source.field = trace::FieldRef(cls, *field);
	made.may_be_absent = field->is_optional;
	if (field->kind == trace::FieldKind::text) {
		made.type = Type::text;
		made.source.from = field->is_optional ? From::optional_text_field : From::text_field;
		return made;
	}
	if (!field->is_integer()) {
		const bool is_real = field->kind == trace::FieldKind::real;
		made.type = is_real ? Type::real : Type::list;
		made.source.from = is_real ? From::real_field : From::list_field;
		return made;
	}
	made.type = Type::number;
	if (field->is_optional)
		made.source.from = From::optional_field;
	made.source.is_signed = field->kind == trace::FieldKind::signed_integer;
	made.labels = field->labels.get();
	const Integer values = Integer(1) << std::min(field->size_bits, 64u);
	made.least = made.source.is_signed ? -(values / 2) : 0;
	made.greatest = made.least + values - 1;
	return made;
}

std::string name_of(const Source &source)
{
	for (const Known &known : known_names)
		if (known.from == source.from)
			return std::string(known.name);
	return source.field.field() ? source.field.field()->name : "";
}

bool is_of_every_event(const Expression &name)
{
	return find(name) != nullptr;
}

const std::vector<std::string_view> &names_of_every_event()
{
	static const std::vector<std::string_view> names = [] {
		std::vector<std::string_view> all;
		for (const Known &known : known_names)
			all.push_back(known.name);
		return all;
	}();
	return names;
}

} // namespace monitor::filter
