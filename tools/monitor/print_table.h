// SPDX-License-Identifier: MIT
// Prints a table in the requested format.
#pragma once

#include <cstddef>
#include <initializer_list>

#include <fmt/format.h>

#include "answers/report/table.h"
#include "terminal.h"

namespace monitor {

inline report::Format format_of(bool json, bool csv = false)
{
	return json ? report::Format::json : csv ? report::Format::csv : report::Format::text;
}

inline void print_table(const report::Table &table, report::Format format)
{
	if (format == report::Format::json)
		fmt::print("{}\n", report::to_json(table));
	else
		fmt::print("{}", format == report::Format::csv ? report::to_csv(table)
							       : report::to_text(table, terminal_width()));
}

// Drops columns that only JSON has.
inline void drop_columns(report::Table &table, std::initializer_list<const char *> keys)
{
	for (const char *const key : keys) {
		const auto at = static_cast<std::ptrdiff_t>(table.column(key));
		table.columns.erase(table.columns.begin() + at);
		for (auto &row : table.rows)
			row.erase(row.begin() + at);
	}
}

} // namespace monitor
