// SPDX-License-Identifier: MIT
// What of a query a table of events takes upon itself: SQLite's constraints -> a plan, before values are known; then
// plan and values -> what a scan does.
//
// choose() is called for xBestIndex, perhaps often for one query; options() for every xFilter. EXPLAIN QUERY PLAN shows
// text(). Invariant: what a plan takes, SQLite asks again of each row; but for the table's own argument, a filter.
#pragma once

#include <cstdint>
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
	std::vector<PlanTerm> terms; // by the number of their value
	bool knows_threads = false;
	bool is_ordered = false; // by time, as was asked for

	// "time_ns>=? name IN ? with threads, in order of time"
	std::string text(const EventColumns &columns) const;
	// Of no other plan of the same table.
	std::string key() const;
};

// Fills what SQLite wants to know, but idxNum and idxStr. False: it must not be done so.
bool choose(sqlite3_index_info &info, const EventColumns &columns, const Context &context, Plan &plan);

// `values` as SQLite gives them, one by term.
ScanOptions options(const Plan &plan, const EventColumns &columns, Context &context, sqlite3_value **values);

} // namespace monitor::query
