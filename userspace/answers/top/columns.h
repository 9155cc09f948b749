// SPDX-License-Identifier: MIT
// The figures that `monitor top` shows of a row, from the columns of the report (answers/report/usage_report.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "answers/live/refresh.h"

namespace monitor::top {

using live::Refresh;

using RowCells = std::vector<report::Cell>;

struct FigureColumn {
	enum class Kind : std::uint8_t { percent, rate, ratio, count, change, history } kind = Kind::percent;
	std::string name; // in an expression (row_filter.h); "": it has none
	std::string title;
	unsigned width = 6;
	// In per cent, or a second; empty: not known. Of change and history: CPU%.
	std::function<std::optional<double>(const Refresh &, const RowCells &)> value;

	// Of what counters measured: whether it is scaled up, as they did not count all the time.
	std::function<bool(const Refresh &, const RowCells &)> is_estimate{};

	bool is_measured() const { return static_cast<bool>(is_estimate); } // by counters
	std::string text(const Refresh &refresh, const RowCells &row) const;
};

// What counters are to measure (record -m).
struct Measure {
	std::string name, unit;
	bool is_count = false; // else a ratio
};

// The most important first. `with_virtual`: CPU% as if nobody measured, too, and its range.
std::vector<FigureColumn> figure_columns(const std::vector<Measure> &measures = {}, bool with_virtual = false);

std::string name_of_row(const RowCells &row);
// Its PID or TID; empty: it has none.
std::optional<std::uint64_t> number_of_row(const report::Table &table, const RowCells &row);
// The same in each refresh.
std::string key_of_row(const report::Table &table, const RowCells &row);
std::optional<double> cpu_percent(const report::Table &table, const RowCells &row);

// "14:03:12", where the window ended.
std::string time_text(const Refresh &refresh);
// "12.3k"
std::string short_count(double count);
// "1 row", "12 rows"
std::string rows_text(std::size_t count);
// "cost: recorder 0.35 %, probes at least 0.80 % of one CPU (loops)", or "probes 0.85 to 1.20 % of one CPU"
std::string cost_text(const Refresh &refresh, double wall_ns);
// What the ranges of virtual times have in them, or why there are none; "": they were not asked for.
std::string virtual_text(const Refresh &refresh);

} // namespace monitor::top
