// SPDX-License-Identifier: MIT
#include "value_source.h"

#include <algorithm>
#include <limits>

#include "base/ranges.h"
#include "monitor/syscall_arg.h"

namespace monitor::filter {
namespace {

using From = ValueSource::From;

struct Property {
	std::string_view name;
	From from;
	bool may_be_absent = false;
	Integer max = std::numeric_limits<std::uint32_t>::max(), min = 0;
};

// Properties that every event has, besides its fields.
constexpr Property properties[] = {
    {"name", From::name},
    {"cpu", From::cpu, true},
    {"mode", From::mode, false, 1},
    {"level", From::level},
    {"time", From::time, false, max_integer, min_integer},
    {"stream", From::stream},
    {"tid", From::tid, true, std::numeric_limits<std::int64_t>::max(), min_integer},
    {"thread", From::thread, true},
};

const Property *find_property(const Expression &name)
{
	const auto *found = std::find_if(std::begin(properties), std::end(properties),
					 [&](const Property &property) { return property.name == name.text; });
	return name.is_field || found == std::end(properties) ? nullptr : found;
}

const trace::Enumeration *modes()
{
	static const trace::Enumeration labels(
	    {{EDC_MODE_USER, EDC_MODE_USER, "user"}, {EDC_MODE_KERNEL, EDC_MODE_KERNEL, "kernel"}}, false);
	return &labels;
}

Resolved resolved_property(const Property &property)
{
	Resolved made;
	made.type = property.from >= From::text_field ? Type::text : Type::number;
	made.may_be_absent = property.may_be_absent;
	made.source.from = property.from;
	made.source.is_signed = property.from == From::tid;
	made.min = property.min;
	made.max = property.max;
	if (property.from == From::mode)
		made.labels = modes();
	return made;
}

Resolved resolved_known(const KnownName &name, std::size_t index)
{
	Resolved made;
	made.type = name.is_text ? Type::text : Type::number;
	made.may_be_absent = true;
	made.source.from = name.is_text ? From::known_text : From::known_number;
	made.source.index = static_cast<std::uint32_t>(index);
	made.max = name.max;
	made.labels = name.labels.get();
	return made;
}

// Fields that short forms lack and that can be derived from earlier events.
struct Derivable {
	std::string_view event, field;
	From from;
};

constexpr Derivable derivable[] = {
    {"sys_exit", "id", From::call_id},
    {"sys_exit", "abi", From::call_abi},
    {"sched_process_exit", "comm", From::thread_name},
};

// The same field of another form, preferably with labels; nullptr: no form has it.
const trace::Field *field_of_other_form(const trace::Description &description, const Derivable &what)
{
	const trace::Field *found = nullptr;
	for (const trace::EventClass *other : description.find(what.event))
		if (const trace::Field *field = other->find(what.field); field && (!found || field->labels))
			found = field;
	return found;
}

Resolved resolved_field(const trace::Field &field)
{
	Resolved made;
	made.may_be_absent = field.is_optional;
	if (field.kind == trace::FieldKind::text) {
		made.type = Type::text;
		made.source.from = field.is_optional ? From::optional_text_field : From::text_field;
		return made;
	}
	if (!field.is_integer()) {
		const bool is_real = field.kind == trace::FieldKind::real;
		made.type = is_real ? Type::real : Type::list;
		made.source.from = is_real ? From::real_field : From::list_field;
		return made;
	}
	made.type = Type::number;
	if (field.is_optional)
		made.source.from = From::optional_field;
	made.source.is_signed = field.kind == trace::FieldKind::signed_integer;
	made.labels = field.labels.get();
	const Integer values = Integer(1) << std::min(field.size_bits, 64u);
	made.min = made.source.is_signed ? -(values / 2) : 0;
	made.max = made.min + values - 1;
	return made;
}

// For a class that lacks the field.
Resolved derived(const Expression &name, const trace::EventClass &cls, const trace::Description &description)
{
	if (cls.size_bytes == 0 || cls.domain != trace::Domain::kernel)
		return {};
	const auto *what = std::ranges::find_if(
	    derivable, [&](const Derivable &each) { return each.event == cls.name && each.field == name.text; });
	const trace::Field *field = what == std::end(derivable) ? nullptr : field_of_other_form(description, *what);
	if (!field)
		return {};
	Resolved made = resolved_field(*field);
	made.may_be_absent = true;
	made.source.from = what->from;
	if (what->from == From::thread_name)
		made.source.field = trace::FieldRef(cls, "pid");
	return made;
}

} // namespace

bool ValueSource::is_labelled(const trace::Event &event, const Running &running) const
{
	return from != From::call_id || call(event, running).abi != EDC_ABI_COMPAT;
}

bool ValueSource::text(const trace::Event &event, const Running &running, std::string_view &value) const
{
	if (from == From::thread || from == From::thread_name) {
		const std::int64_t tid = from == From::thread ? running.tid : field.get<std::int64_t>(event);
		const trace::Threads::Info *known =
		    running.threads ? running.threads->name(tid, event.stream->machine) : nullptr;
		value = known ? known->view() : std::string_view();
		return known != nullptr;
	}
	if (from == From::known_text)
		return running.knowledge && running.knowledge->text(index, value);
	value = from == From::text_field || from == From::optional_text_field ? field.get<std::string_view>(event)
		: from == From::name                                          ? std::string_view(event.cls->name)
									      : std::string_view(event.stream->name);
	return from != From::optional_text_field || field.is_in(event);
}

const KnownName *find(const Expression &name, const KnownNames &known)
{
	const auto found = std::ranges::find(known, name.text, &KnownName::name);
	return name.is_field || found == known.end() ? nullptr : &*found;
}

Resolved resolve(const Expression &name, const trace::EventClass &cls, const KnownNames &known,
		 const trace::Description *derives_from)
{
	if (const KnownName *found = find(name, known); found && found->lacking.empty())
		return resolved_known(*found, static_cast<std::size_t>(found - known.data()));
	if (const Property *property = find_property(name))
		return resolved_property(*property);
	const trace::Field *field = cls.find(name.text);
	if (!field)
		return derives_from ? derived(name, cls, *derives_from) : Resolved();
	Resolved made = resolved_field(*field);
	made.source.field = trace::FieldRef(cls, *field);
	return made;
}

Expression name_expression(const std::string &name)
{
	constexpr std::string_view of_event = "event.";
	Expression made;
	made.kind = Expression::Kind::name;
	made.is_field = name.starts_with(of_event);
	made.text = made.is_field ? name.substr(of_event.size()) : name;
	return made;
}

std::optional<ValueSource> key_source(const std::string &name, const trace::EventClass &cls)
{
	using From = ValueSource::From;
	const Resolved found = resolve(name_expression(name == "thread" ? "tid" : name), cls);
	const From from = found.source.from;
	const bool is_known = from == From::field || from == From::cpu || from == From::level || from == From::tid;
	return found.type == Type::number && is_known ? std::optional(found.source) : std::nullopt;
}

std::string name_of(const ValueSource &source)
{
	for (const Property &property : properties)
		if (property.from == source.from)
			return std::string(property.name);
	return source.field.field() ? source.field.field()->name : "";
}

bool is_common_property(const Expression &name)
{
	return find_property(name) != nullptr;
}

const std::vector<std::string_view> &common_properties()
{
	static const auto names = list_of<std::string_view>(properties, &Property::name);
	return names;
}

} // namespace monitor::filter
