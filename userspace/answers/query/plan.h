// SPDX-License-Identifier: MIT
// Which constraints of a query a table of events handles itself (xBestIndex): from SQLite's constraints to a plan,
// before values are known; then from plan and values to the options of a scan.
// choose() is called for xBestIndex, possibly often for one query; options() for every xFilter. EXPLAIN QUERY PLAN
// shows text(). Invariant: SQLite checks every constraint of a plan again for each row, except the table's argument, a
// filter.
#pragma once

#include <string>
#include <vector>

#include "event_columns.h"
#include "event_scan.h"

namespace monitor::query {

struct PlanTerm {
	std::size_t column = 0;
	Op op = Op::equal;
};

struct Plan {
	std::vector<PlanTerm> terms; // in the order of their values
	bool needs_threads = false;
	bool is_ordered = false; // by time, as requested

	// "time_ns>=? name IN ? with threads, in order of time"
	std::string text(const EventColumns &columns) const;
	// Unique among the plans of a table.
	std::string key() const;
};

// Sets SQLite's output fields, except idxNum and idxStr. False: the query cannot be run this way.
bool choose(sqlite3_index_info &info, const EventColumns &columns, const Context &context, Plan &plan);

// `values` as passed by SQLite, one per term.
ScanOptions options(const Plan &plan, const EventColumns &columns, Context &context, sqlite3_value **values);

} // namespace monitor::query
