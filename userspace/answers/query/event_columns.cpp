// SPDX-License-Identifier: MIT
#include "event_columns.h"

#include <algorithm>
#include <map>

namespace monitor::query {
namespace {

using From = EventColumn::From;
using trace::FieldKind;

const std::vector<EventColumn> common = {
    {"time_ns", From::time_ns, "INTEGER"},  {"time", From::time, "REAL"},     {"wall_ns", From::wall_ns, "INTEGER"},
    {"ticks", From::ticks, "INTEGER"},      {"cpu", From::cpu, "INTEGER"},    {"level", From::level, "INTEGER"},
    {"mode", From::mode, "TEXT"},           {"name", From::name, "TEXT"},     {"stream", From::stream, "TEXT"},
    {"tid", From::tid, "INTEGER"},          {"thread", From::thread, "TEXT"}, {"tgid", From::tgid, "INTEGER"},
    {"filter", From::filter, "TEXT", true}, {"fields", From::fields, "TEXT"}, {"context", From::context, "TEXT"},
};

const char *type_of(FieldKind kind)
{
	return kind == FieldKind::text || kind == FieldKind::list ? "TEXT"
	       : kind == FieldKind::real                          ? "REAL"
								  : "INTEGER";
}

// A structure with only the list, as FieldText requires.
void make_list(FieldColumn &column, const trace::Field &field)
{
	auto alone = std::make_unique<trace::FieldClass>();
	alone->kind = trace::FieldClass::Kind::structure;
	alone->align_bits = field.type->align_bits;
	alone->members.push_back({"", *field.type, {}, {}});
	column.list_text = std::make_unique<const trace::FieldText>(*alone, true);
	column.list = std::move(alone);
}

} // namespace

std::string in_quotes(const std::string &name)
{
	std::string made = "\"";
	for (const char c : name)
		made += c == '"' ? std::string("\"\"") : std::string(1, c ? c : '?');
	return made + '"';
}

EventColumns::EventColumns(const trace::Description &description, bool has_hosts) : columns_(common)
{
	if (has_hosts)
		columns_.push_back({"host", From::host, "TEXT"});
	for (const auto &cls : description.classes())
		classes_.push_back(cls.get());
	slots_.assign(description.classes().size(), 0);
	first_field_ = columns_.size();
	fields_.emplace_back();
}

EventColumns::EventColumns(const trace::Description &description, std::vector<const trace::EventClass *> classes,
			   bool has_hosts)
    : columns_(common), classes_(std::move(classes)), slots_(description.classes().size(), none)
{
	columns_[static_cast<std::size_t>(From::fields)].is_hidden = true;
	columns_[static_cast<std::size_t>(From::context)].is_hidden = true;
	if (has_hosts)
		columns_.push_back({"host", From::host, "TEXT"});
	first_field_ = columns_.size();
	fields_.resize(classes_.size());
	// Fields of the same name in several classes share one column, and one for their labels.
	std::map<std::string, std::pair<std::size_t, std::size_t>> known; // its column and its label's, or 0
	for (std::uint32_t slot = 0; slot < classes_.size(); ++slot) {
		const trace::EventClass &cls = *classes_[slot];
		slots_[cls.index] = slot;
		for (const trace::Field &field : cls.fields) {
			auto [found, is_new] = known.try_emplace(field.name, 0, 0);
			if (is_new && columns_.size() + 2 <= max_columns) {
				found->second.first = columns_.size();
				add(field.name, From::field, type_of(field.kind));
			}
			if (found->second.first && field.labels && !found->second.second &&
			    columns_.size() < max_columns) {
				found->second.second = columns_.size();
				add(field.name + "_label", From::label, "TEXT");
			}
			if (!found->second.first)
				continue;
			EventColumn &column = columns_[found->second.first];
			if (column.type != type_of(field.kind))
				column.type = ""; // any type
			auto &fields = fields_[slot];
			fields.resize(columns_.size() - first_field_);
			FieldColumn &made = fields[found->second.first - first_field_];
			made.field = &field;
			made.value = trace::FieldRef(cls, field);
			if (field.kind == FieldKind::list)
				make_list(made, field);
			if (field.labels) {
				FieldColumn &label = fields[found->second.second - first_field_];
				label.field = &field;
				label.value = made.value;
			}
		}
	}
	for (auto &fields : fields_)
		fields.resize(columns_.size() - first_field_);
	for (const trace::EventClass *cls : classes_)
		for (const auto &[name, columns] : known)
			if (columns.first && !cls->find(name))
				add_derived(description, *cls, name, columns);
}

// Columns for derived fields that the class lacks. `columns`: the field's, and its label's or 0.
void EventColumns::add_derived(const trace::Description &description, const trace::EventClass &cls,
			       const std::string &name, std::pair<std::size_t, std::size_t> columns)
{
	filter::Expression expression;
	expression.kind = filter::Expression::Kind::name;
	expression.is_field = true;
	expression.text = name;
	const filter::Resolved resolved = filter::resolve(expression, cls, {}, &description);
	if (!resolved.source.is_derived())
		return;
	const auto has_field = [&](const trace::EventClass *other) { return field(columns.first, *other)->field; };
	const trace::EventClass *other = *std::ranges::find_if(classes_, has_field);
	for (const std::size_t column : {columns.first, columns.second}) {
		if (!column)
			continue;
		FieldColumn &made = fields_[slots_[cls.index]][column - first_field_];
		made.field = field(columns.first, *other)->field;
		made.derived = resolved;
		columns_[column].is_derived = true;
	}
}

bool EventColumns::is_taken(const std::string &name) const
{
	return std::ranges::any_of(columns_, [&](const EventColumn &column) {
		return sqlite3_stricmp(column.name.c_str(), name.c_str()) == 0;
	});
}

void EventColumns::add(const std::string &name, From from, const char *type)
{
	const std::string plain = name.substr(0, name.find('\0'));
	std::string unused_name = plain;
	if (is_taken(unused_name))
		unused_name = "event." + unused_name;
	for (int number = 2; is_taken(unused_name); ++number)
		unused_name = "event." + plain + "_" + std::to_string(number);
	columns_.push_back({unused_name, from, type});
}

std::string EventColumns::declaration() const
{
	std::string text = "CREATE TABLE x(";
	for (const EventColumn &column : columns_) {
		text += (&column == columns_.data() ? "" : ", ") + in_quotes(column.name);
		text += (column.type.empty() ? "" : " ") + column.type + (column.is_hidden ? " HIDDEN" : "");
	}
	return text + ")";
}

} // namespace monitor::query
