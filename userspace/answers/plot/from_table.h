// SPDX-License-Identifier: MIT
// Makes charts of tables: rows become bars, or series if they are time intervals. So whatever is printed as a table can
// be drawn, with the same values.
// The table has the default column and the column of its unknown share (report::Figure).
#pragma once

#include <cstddef>
#include <string>

#include "answers/report/bins.h"
#include "answers/report/table.h"
#include "chart.h"

namespace monitor::plot {

// The options --plot and --svg.
struct Wanted {
	bool in_text = false; // instead of the table
	std::string file;     // in addition to it

	bool is_asked() const { return in_text || !file.empty(); }
};

struct Choice {
	std::string subject;        // before the title: "report cpu"
	std::string column;         // by key or title; "": the table's own figure
	std::size_t max_bars = 0;   // the first rows; 0: all
	std::size_t max_series = 8; // the largest ones
};

// Throws Error if the table has nothing to draw, or the column has no numbers.
Chart chart_of(const report::Table &table, const Choice &choice);

// The distribution of one row.
Chart chart_of(const report::Bins &bins, const std::string &subject);

} // namespace monitor::plot
