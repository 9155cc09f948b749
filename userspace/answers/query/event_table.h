// SPDX-License-Identifier: MIT
// The tables of events, as Module (module.h) requires: `events`, and one per event class.
//
//     SQLite's xBestIndex -> choose() -> Plan ... xFilter -> options() -> EventScan -> rows
//
// Made when a query names the table. Plans live as long as the table: prepared statements refer to them by number.
// Invariant: a cursor's row is the scan's current event; nothing of it is copied.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "event_columns.h"
#include "event_json.h"
#include "event_scan.h"
#include "plan.h"

namespace monitor::query {

class EventTable;

class EventCursor {
public:
	explicit EventCursor(EventTable &table) : table_(table) {}

	void filter(int plan, sqlite3_value **values);
	void next();
	bool is_at_end() const { return is_at_end_; }
	void column(sqlite3_context *context, std::size_t number);
	std::int64_t row_id() const { return scan_->row_id(); }

private:
	void put_common(sqlite3_context *context, EventColumn::From from, const trace::Event &event);
	void put_field(sqlite3_context *context, const FieldColumn &field, const trace::Event &event);
	void put_list(sqlite3_context *context, const FieldColumn &field, const trace::Event &event);

	EventTable &table_;
	std::unique_ptr<EventScan> scan_;
	std::string filter_text_;
	trace::LineBuffer line_;
	bool is_at_end_ = true;
};

class EventTable {
public:
	using Cursor = EventCursor;

	// For all events.
	explicit EventTable(Context &context)
	    : context(context), columns(context.trace.description(), context.trace.machines().size() > 1),
	      json(context.trace.description().classes().size())
	{
	}
	// For these classes.
	EventTable(Context &context, std::vector<const trace::EventClass *> classes)
	    : context(context),
	      columns(context.trace.description(), std::move(classes), context.trace.machines().size() > 1),
	      json(context.trace.description().classes().size())
	{
	}

	std::string declaration() const { return columns.declaration(); }
	int best_index(sqlite3_index_info &info);
	std::unique_ptr<EventCursor> make_cursor() { return std::make_unique<EventCursor>(*this); }
	const Plan &plan(int number) const { return plans_[static_cast<std::size_t>(number)]; }

	Context &context;
	const EventColumns columns;
	EventJson json;

private:
	std::vector<Plan> plans_;
	std::map<std::string, int> numbers_; // of plans, by their keys
};

} // namespace monitor::query
