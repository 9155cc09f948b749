// SPDX-License-Identifier: MIT
// Which constraints of a query a table of events handles itself (xBestIndex): SQLite's constraints -> a plan, before
// values are known; then plan and values -> what a scan does.
//
// choose() is called for xBestIndex, perhaps often for one query; options() for every xFilter. EXPLAIN QUERY PLAN shows
// text(). Invariant: SQLite checks every constraint of a plan again for each row, except the table's argument, a
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
	// Differs from that of any other plan of the same table.
	std::string key() const;
};

// Fills in what SQLite needs, except idxNum and idxStr. False: this way of running the query is not possible.
bool choose(sqlite3_index_info &info, const EventColumns &columns, const Context &context, Plan &plan);

// `values` as passed by SQLite, one per term.
ScanOptions options(const Plan &plan, const EventColumns &columns, Context &context, sqlite3_value **values);

} // namespace monitor::query
