// SPDX-License-Identifier: MIT
// The columns of figures in `monitor top`, from those of the report (answers/report/usage_report.h).
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
	std::string name; // in expressions (row_filter.h); "": none
	std::string title;
	unsigned width = 6;
	// In percent, or per second; nullopt: unknown. For change and history: CPU%.
	std::function<std::optional<double>(const Refresh &, const RowCells &)> value;

	// For measurements: whether the value is scaled up, as the counters were multiplexed.
	std::function<bool(const Refresh &, const RowCells &)> is_estimate{};

	bool is_measured() const { return static_cast<bool>(is_estimate); } // by counters
	std::string text(const Refresh &refresh, const RowCells &row) const;
};

// A measurement of counters (record -m).
struct Measure {
	std::string name, unit;
	bool is_count = false; // false: a ratio
};

// The most important first. `with_virtual`: also virtual CPU% and its range.
std::vector<FigureColumn> figure_columns(const std::vector<Measure> &measures = {}, bool with_virtual = false);

std::string name_of_row(const RowCells &row);
// The row's PID or TID; nullopt: none.
std::optional<std::uint64_t> number_of_row(const report::Table &table, const RowCells &row);
// Identifies the row across refreshes.
std::string key_of_row(const report::Table &table, const RowCells &row);
std::optional<double> cpu_percent(const report::Table &table, const RowCells &row);

// End of the window: "14:03:12".
std::string time_text(const Refresh &refresh);
// "12.3k"
std::string short_count(double count);
// "1 row", "12 rows"
std::string rows_text(std::size_t count);
// "cost: recorder 0.35 %, probes at least 0.80 % of one CPU (loops)", or "probes 0.85 to 1.20 % of one CPU"
std::string cost_text(const Refresh &refresh, double wall_ns);
// What the ranges of virtual times include, or why there are none; "": not requested.
std::string virtual_text(const Refresh &refresh);

} // namespace monitor::top
