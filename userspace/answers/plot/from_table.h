// SPDX-License-Identifier: MIT
// The chart of a table: its rows become bars, or series if they are of intervals of time. So whatever is printed as a
// table can be drawn, with the same values.
//
// Which column is drawn and what is unknown of it is in the table (report::Figure).
#pragma once

#include <cstddef>
#include <string>

#include "answers/report/bins.h"
#include "answers/report/table.h"
#include "chart.h"

namespace monitor::plot {

// --plot and --svg.
struct Wanted {
	bool in_text = false; // in the place of the table
	std::string file;     // beside it

	bool is_asked() const { return in_text || !file.empty(); }
};

struct Choice {
	std::string subject;        // before the title: "report cpu"
	std::string column;         // by key or title; "": the table's own figure
	std::size_t max_bars = 0;   // the first rows; 0: all
	std::size_t max_series = 8; // those with the largest values
};

// Throws Error if the table has nothing that can be drawn, or the column is none of numbers.
Chart chart_of(const report::Table &table, const Choice &choice);

// The distribution of one row.
Chart chart_of(const report::Bins &bins, const std::string &subject);

} // namespace monitor::plot
