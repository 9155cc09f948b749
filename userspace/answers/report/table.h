// SPDX-License-Identifier: MIT
// A table of an answer, printed as text, CSV or JSON. Built by answers/report/*.cpp, printed by the subcommands.
// An unknown value is an empty cell: `-` in text, nothing in CSV, null in JSON; never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace monitor::report {

// instant: a time of the trace, in ns since its start, as `monitor list` prints it. difference: of two times, in ns.
enum class Unit { text, count, ratio, nanoseconds, difference, instant, percent, flag, bytes };

struct Column {
	std::string key;   // in JSON and CSV, with the unit: "cpu_ns"
	std::string title; // in text: "CPU"
	Unit unit = Unit::text;
	unsigned rank = 0;     // without space, the highest go first; 0: never left out
	std::string meaning{}; // one line, for legend_text()
	bool is_rare = false;  // left out of text if it is 0 or unknown in every row
};

inline Column recorded_column()
{
	return {"recorded", "", Unit::flag, 0, "of the recorded command or a descendant"};
}

// Of durations, beside their count and total.
std::vector<Column> duration_columns();

using Cell = std::variant<std::monostate, std::string, std::uint64_t, double, bool>;

// Of a value that may be unknown; of a text that may be: "".
template <class Value> Cell cell_of(const std::optional<Value> &value)
{
	return value ? Cell(*value) : Cell();
}
inline Cell cell_of(const std::string &text)
{
	return text.empty() ? Cell() : Cell(text);
}

// What charts show of a table (answers/plot/).
struct Figure {
	std::string key;           // of a column; "": the first figure
	std::string unknown_share; // the column with its unknown share in percent; "": none
};

struct Table {
	std::vector<Column> columns;
	std::vector<std::vector<Cell>> rows;
	Figure figure{};

	// Column by key or title, ignoring case; throws Error naming the available columns.
	std::size_t column(const std::string &name) const;
	// Sorts by descending numbers or ascending text.
	void sort_by(std::size_t column);
	void keep_top(std::size_t rows_kept);
	// Whether text omits the column: see Column::is_rare.
	bool is_left_out(std::size_t column) const;
};

enum class Format { text, json, csv };

// A cell as printed in text, and as a number; nullopt: it is none.
std::string cell_text(const Cell &cell, Unit unit);
std::optional<double> number_of(const Cell &cell);

// `max_width`: of a line, in terminal columns; the widest text columns are narrowed as far as possible. 0: unlimited.
std::string to_text(const Table &table, std::size_t max_width = 0);
// Removes columns with is_left_out().
Table without_left_out(const Table &table);
// Removes columns without values, then those of the highest ranks until the table fits. Returns the titles of the
// latter.
std::vector<std::string> fit_columns(Table &table, std::size_t max_width);
// A line per column: title and meaning.
std::string legend_text(const Table &table);
// The text, perhaps shortened with "…". 0: unlimited.
std::string cut_text(const std::string &text, std::size_t max_width);
std::string to_csv(const Table &table);
// A JSON array of objects: as text, and for embedding in other JSON.
std::string to_json(const Table &table);
nlohmann::ordered_json rows_json(const Table &table);

// A text as a CSV value.
std::string csv_text(std::string_view text);
// A column's name: quoted only if necessary.
std::string csv_name(const std::string &name);

inline constexpr std::size_t rows_in_text = 40; // unless --top gives another number
// The line below a table with this many hidden rows; "" for 0.
std::string more_rows_text(std::size_t hidden);

// "1.234 s", "12.3 ms", "45.6 us", "789 ns"
std::string duration_text(double ns);
// "12,345,678"
std::string count_text(std::uint64_t count);
std::string bytes_text(double bytes);

} // namespace monitor::report
