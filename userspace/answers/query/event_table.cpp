// SPDX-License-Identifier: MIT
#include "event_table.h"

#include "module.h"

namespace monitor::query {
namespace {

using From = EventColumn::From;

// For texts that outlive the statement, and for those that do not.
void put_static(sqlite3_context *context, std::string_view text)
{
	sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void put_transient(sqlite3_context *context, std::string_view text)
{
	sqlite3_result_text64(context, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

} // namespace

int EventTable::best_index(sqlite3_index_info &info)
{
	Plan plan;
	if (!choose(info, columns, context, plan))
		return SQLITE_CONSTRAINT;
	const std::string text = plan.text(columns);
	const auto [known, is_new] = numbers_.try_emplace(plan.key(), static_cast<int>(plans_.size()));
	if (is_new)
		plans_.push_back(std::move(plan));
	info.idxNum = known->second;
	info.idxStr = sqlite3_mprintf("%s", text.c_str());
	info.needToFreeIdxStr = 1;
	return info.idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

void EventCursor::filter(int number, sqlite3_value **values)
{
	const Plan &plan = table_.plan(number);
	filter_text_.clear();
	for (std::size_t i = 0; i < plan.terms.size(); ++i)
		if (table_.columns.columns()[plan.terms[i].column].from == From::filter)
			if (const auto *text = reinterpret_cast<const char *>(sqlite3_value_text(values[i])))
				filter_text_ = text;
	scan_.reset();
	scan_ = std::make_unique<EventScan>(table_.context, table_.columns,
					    options(plan, table_.columns, table_.context, values));
	next();
}

void EventCursor::next()
{
	is_at_end_ = !scan_->next();
	if (scan_->was_interrupted())
		throw Interrupted();
}

void EventCursor::column(sqlite3_context *context, std::size_t number)
{
	const trace::Event &event = scan_->event();
	const EventColumn &column = table_.columns.columns()[number];
	if (column.from < From::field)
		return put_common(context, column.from, event);
	const FieldColumn *field = table_.columns.field(number, *event.cls);
	if (!field || !field->is_in(event, scan_->running_thread()))
		return;
	if (column.from == From::field)
		return put_field(context, *field, event);
	if (const std::string *label = field->label(event, scan_->running_thread()))
		put_static(context, *label);
}

void EventCursor::put_common(sqlite3_context *context, From from, const trace::Event &event)
{
	const std::int64_t running = scan_->running();
	const trace::Threads *threads = scan_->threads();
	if (from <= From::ticks && !event.stream->has_times)
		return;
	switch (from) {
	case From::time_ns:
		return sqlite3_result_int64(context, table_.context.time_ns(event.time));
	case From::time:
		return sqlite3_result_double(context, static_cast<double>(table_.context.time_ns(event.time)) / 1e9);
	case From::wall_ns:
		return sqlite3_result_int64(context, table_.context.trace.description().clock.wall_ns(event.time));
	case From::ticks:
		return sqlite3_result_int64(context, static_cast<std::int64_t>(event.time));
	case From::cpu:
		return event.has_cpu() ? sqlite3_result_int64(context, event.cpu()) : void();
	case From::level:
		return sqlite3_result_int64(context, event.level());
	case From::mode:
		return put_static(context, event.mode() == EDC_MODE_KERNEL ? "kernel" : "user");
	case From::name:
		return put_static(context, event.cls->name);
	case From::stream:
		return put_static(context, event.stream->name);
	case From::tid:
		return running != trace::Threads::unknown ? sqlite3_result_int64(context, running) : void();
	case From::thread:
		if (const trace::Threads::Info *name =
			threads ? threads->name(running, event.stream->machine) : nullptr)
			put_transient(context, name->view());
		return;
	case From::tgid:
		if (threads && threads->process(running, event.stream->machine) != trace::Threads::unknown)
			sqlite3_result_int64(context, threads->process(running, event.stream->machine));
		return;
	case From::filter:
		return put_transient(context, filter_text_);
	case From::host:
		return put_static(context, table_.context.trace.machines()[event.stream->machine]);
	case From::fields:
		return put_transient(context, table_.json.fields(event));
	default:
		if (const std::string_view json = table_.json.context(event); !json.empty())
			put_transient(context, json);
	}
}

void EventCursor::put_field(sqlite3_context *context, const FieldColumn &field, const trace::Event &event)
{
	switch (field.field->kind) {
	case trace::FieldKind::text:
		return put_transient(context, field.text(event, scan_->running_thread()));
	case trace::FieldKind::real:
		return sqlite3_result_double(context, field.value.get<double>(event));
	case trace::FieldKind::list:
		return put_list(context, field, event);
	default:
		return sqlite3_result_int64(context, field.number(event, scan_->running_thread()));
	}
}

void EventCursor::put_list(sqlite3_context *context, const FieldColumn &field, const trace::Event &event)
{
	constexpr std::string_view name = "\"\":"; // of the structure's only member
	std::uint64_t at_bits = 0;
	if (!trace::locate(*field.field, event, at_bits))
		return;
	line_.clear();
	field.list_text->put(event.view(), at_bits, line_);
	std::string_view json = line_.view().substr(name.size());
	if (field.field->type->is_wide)
		json = json.substr(1, json.size() - 2); // a number in quotes, which are removed
	put_transient(context, json);
}

} // namespace monitor::query
