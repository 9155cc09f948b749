// SPDX-License-Identifier: MIT
#include "table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/ranges.h"
#include "base/text_width.h"

namespace monitor::report {
namespace {

bool equals_ignoring_case(const std::string &a, const std::string &b)
{
	return std::ranges::equal(a, b,
				  [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// At least three digits: "0.853", "12.4", "7.61 M"; two for small values: "0.0012", "1.3e-05".
std::string ratio_text(double value)
{
	const std::pair<double, const char *> large[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}};
	for (const auto &[unit, name] : large)
		if (const double shown = value / unit, size = std::abs(shown); size >= 1) {
			return fmt::format("{:.{}f}{}", shown, size >= 100 ? 0 : size >= 10 ? 1 : 2, name);
		}
	constexpr double small = 0.01;
	return value != 0 && std::abs(value) < small ? fmt::format("{:.2g}", value) : fmt::format("{:.3f}", value);
}

std::string csv_of(const Cell &cell)
{
	if (const auto *text = std::get_if<std::string>(&cell))
		return csv_text(*text);
	if (const auto *count = std::get_if<std::uint64_t>(&cell))
		return std::to_string(*count);
	if (const auto *value = std::get_if<double>(&cell))
		return fmt::format("{}", *value);
	if (const auto *flag = std::get_if<bool>(&cell))
		return *flag ? "1" : "0";
	return "";
}

// Narrows the widest text columns, but keeps them recognizable.
void narrow(std::vector<std::size_t> &widths, const std::vector<Column> &columns, std::size_t max_width)
{
	constexpr std::size_t gap = 2, min_width = 12;
	std::size_t total = gap * (widths.size() - std::min<std::size_t>(widths.size(), 1));
	for (const std::size_t width : widths)
		total += width;
	while (total > max_width) {
		std::size_t *widest = nullptr;
		for (std::size_t i = 0; i < widths.size(); ++i)
			if (columns[i].unit == Unit::text && (!widest || widths[i] > *widest))
				widest = &widths[i];
		if (!widest || *widest <= min_width)
			return;
		--*widest;
		--total;
	}
}

// The width to which a column may be narrowed before another one is left out.
std::size_t needed_width(const Table &table, std::size_t column)
{
	constexpr std::size_t max_needed = 16;
	std::size_t width = text_width(table.columns[column].title);
	for (const auto &row : table.rows)
		width = std::max(width, text_width(cell_text(row[column], table.columns[column].unit)));
	return table.columns[column].unit == Unit::text ? std::min(width, max_needed) : width;
}

bool holds_nothing(const Table &table, std::size_t column)
{
	if (table.is_left_out(column))
		return true;
	return !table.rows.empty() && std::ranges::all_of(table.rows, [&](const auto &row) {
		const bool *const flag = std::get_if<bool>(&row[column]);
		return std::holds_alternative<std::monostate>(row[column]) || (flag && !*flag);
	});
}

Table with_columns(const Table &table, const std::vector<std::size_t> &kept)
{
	Table made;
	for (const std::size_t i : kept)
		made.columns.push_back(table.columns[i]);
	for (const auto &row : table.rows) {
		auto &cells = made.rows.emplace_back();
		for (const std::size_t i : kept)
			cells.push_back(row[i]);
	}
	made.figure = table.figure;
	return made;
}

nlohmann::ordered_json json_of(const Cell &cell)
{
	return std::visit(
	    [](const auto &value) -> nlohmann::ordered_json {
		    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
			    return nullptr;
		    else
			    return value;
	    },
	    cell);
}

} // namespace

std::optional<double> number_of(const Cell &cell)
{
	if (const auto *count = std::get_if<std::uint64_t>(&cell))
		return static_cast<double>(*count);
	if (const auto *value = std::get_if<double>(&cell))
		return *value;
	if (const auto *flag = std::get_if<bool>(&cell))
		return *flag;
	return {};
}

std::string cell_text(const Cell &cell, Unit unit)
{
	if (std::holds_alternative<std::monostate>(cell))
		return "-";
	if (const auto *text = std::get_if<std::string>(&cell))
		return printable(*text);
	const double number = *number_of(cell);
	switch (unit) {
	case Unit::nanoseconds:
		return (number < 0 ? "-" : "") + duration_text(std::abs(number));
	case Unit::difference:
		return (number < 0 ? "-" : "+") + duration_text(std::abs(number));
	case Unit::instant:
		return fmt::format("{:.9f}", number / 1e9);
	case Unit::percent:
		return fmt::format("{:.1f}", number);
	case Unit::ratio:
		return ratio_text(number);
	case Unit::flag:
		return number > 0 ? "*" : "";
	case Unit::bytes:
		return bytes_text(number);
	case Unit::count:
	case Unit::text:
		break;
	}
	return fmt::format("{:.0f}", number);
}

std::string csv_text(std::string_view text)
{
	std::string quoted = "\"";
	for (const char c : printable(text))
		quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
	return quoted + '"';
}

std::string csv_name(const std::string &name)
{
	return name.find_first_of(",\"") == std::string::npos && printable(name) == name ? name : csv_text(name);
}

std::vector<Column> duration_columns()
{
	return {{"mean_ns", "mean", Unit::nanoseconds, 5, "of one"},
		{"p50_ns", "p50", Unit::nanoseconds, 7, "that half of them do not exceed"},
		{"p99_ns", "p99", Unit::nanoseconds, 6, "that 99 % of them do not exceed"},
		{"max_ns", "max", Unit::nanoseconds, 2, "the longest one"}};
}

std::size_t Table::column(const std::string &name) const
{
	std::string all;
	for (std::size_t i = 0; i < columns.size(); ++i) {
		if (equals_ignoring_case(columns[i].key, name) || equals_ignoring_case(columns[i].title, name))
			return i;
		all += (i ? ", " : "") + columns[i].key;
	}
	const auto begins = std::ranges::find_if(
	    columns, [&](const Column &column) { return !name.empty() && column.key.starts_with(name); });
	if (begins != columns.end())
		return static_cast<std::size_t>(begins - columns.begin());
	throw Error("there is no column '" + name + "' to sort by; the columns are " + all);
}

void Table::sort_by(std::size_t column)
{
	std::ranges::stable_sort(rows, [column](const auto &a, const auto &b) {
		const auto *x = std::get_if<std::string>(&a[column]), *y = std::get_if<std::string>(&b[column]);
		return x && y ? *x < *y : number_of(a[column]).value_or(-1) > number_of(b[column]).value_or(-1);
	});
}

void Table::keep_top(std::size_t rows_kept)
{
	rows.resize(std::min(rows.size(), rows_kept));
}

bool Table::is_left_out(std::size_t column) const
{
	return columns[column].is_rare &&
	       std::ranges::all_of(rows, [column](const auto &row) { return number_of(row[column]).value_or(0) == 0; });
}

std::string cut_text(const std::string &text, std::size_t max_width)
{
	if (max_width == 0 || text_width(text) <= max_width)
		return text;
	return text.substr(0, bytes_within(text, max_width - 1)) + "…";
}

Table without_left_out(const Table &table)
{
	std::vector<std::size_t> kept;
	for (std::size_t i = 0; i < table.columns.size(); ++i)
		if (!table.is_left_out(i))
			kept.push_back(i);
	return with_columns(table, kept);
}

std::string to_text(const Table &whole, std::size_t max_width)
{
	const Table table = without_left_out(whole);
	std::vector<std::size_t> widths;
	std::vector<std::vector<std::string>> texts;
	for (const Column &column : table.columns)
		widths.push_back(text_width(column.title));
	for (const auto &row : table.rows) {
		texts.emplace_back();
		for (std::size_t i = 0; i < row.size(); ++i) {
			texts.back().push_back(cell_text(row[i], table.columns[i].unit));
			widths[i] = std::max(widths[i], text_width(texts.back().back()));
		}
	}
	if (max_width)
		narrow(widths, table.columns, max_width);
	std::string out;
	const auto line = [&](const std::vector<std::string> &cells) {
		for (std::size_t i = 0; i < widths.size(); ++i) {
			const std::string text = cut_text(cells[i], widths[i]);
			const std::size_t pad = widths[i] - std::min(widths[i], text_width(text));
			const bool left = table.columns[i].unit == Unit::text || table.columns[i].unit == Unit::flag;
			out.append(i ? 2 : 0, ' ').append(left ? 0 : pad, ' ').append(text).append(left ? pad : 0, ' ');
		}
		out.erase(out.find_last_not_of(' ') + 1);
		out += '\n';
	};
	line(list_of<std::string>(table.columns, &Column::title));
	for (const auto &row : texts)
		line(row);
	return out;
}

std::vector<std::string> fit_columns(Table &table, std::size_t max_width)
{
	constexpr std::size_t gap = 2;
	std::vector<std::size_t> kept, widths;
	std::size_t total = 0;
	for (std::size_t i = 0; i < table.columns.size(); ++i) {
		widths.push_back(needed_width(table, i));
		if (holds_nothing(table, i))
			continue;
		kept.push_back(i);
		total += widths[i] + gap;
	}
	std::vector<std::size_t> left_out;
	while (total > max_width + gap) {
		const auto last = std::ranges::max_element(kept, {}, [&](std::size_t i) {
			return std::pair(table.columns[i].rank, i); // of equal ranks the rightmost
		});
		if (last == kept.end() || table.columns[*last].rank == 0)
			break;
		total -= widths[*last] + gap;
		left_out.push_back(*last);
		kept.erase(last);
	}
	std::ranges::sort(left_out);
	auto titles = list_of<std::string>(left_out, [&](std::size_t i) { return table.columns[i].title; });
	table = with_columns(table, kept);
	return titles;
}

std::string legend_text(const Table &whole)
{
	const Table table = without_left_out(whole);
	Table legend;
	legend.columns = {{"column", "column"}, {"meaning", "meaning"}};
	for (const Column &column : table.columns)
		if (!column.meaning.empty())
			legend.rows.push_back(
			    {column.unit == Unit::flag && column.title.empty() ? "*" : column.title, column.meaning});
	return to_text(legend);
}

std::string to_csv(const Table &table)
{
	std::string out;
	for (std::size_t i = 0; i < table.columns.size(); ++i)
		out += (i ? "," : "") + csv_name(table.columns[i].key);
	out += "\n";
	for (const auto &row : table.rows) {
		for (std::size_t i = 0; i < row.size(); ++i)
			out += (i ? "," : "") + csv_of(row[i]);
		out += "\n";
	}
	return out;
}

nlohmann::ordered_json rows_json(const Table &table)
{
	auto rows = nlohmann::ordered_json::array();
	for (const auto &row : table.rows) {
		nlohmann::ordered_json object;
		for (std::size_t i = 0; i < row.size(); ++i)
			object[table.columns[i].key] = json_of(row[i]);
		rows.push_back(std::move(object));
	}
	return rows;
}

std::string to_json(const Table &table)
{
	return json_dump(rows_json(table), 1);
}

std::string more_rows_text(std::size_t hidden)
{
	return hidden ? fmt::format("... and {} more; --top 0 shows all\n", hidden) : "";
}

std::string duration_text(double ns)
{
	if (ns >= 1e9)
		return fmt::format("{:.3f} s", ns / 1e9);
	if (ns >= 1e6)
		return fmt::format("{:.2f} ms", ns / 1e6);
	if (ns >= 1e3)
		return fmt::format("{:.2f} us", ns / 1e3);
	return fmt::format("{:.0f} ns", ns);
}

std::string count_text(std::uint64_t count)
{
	std::string text = std::to_string(count);
	for (std::size_t at = text.size(); at > 3; at -= 3)
		text.insert(at - 3, ",");
	return text;
}

std::string bytes_text(double bytes)
{
	if (bytes >= 1e9)
		return fmt::format("{:.2f} GB", bytes / 1e9);
	if (bytes >= 1e6)
		return fmt::format("{:.1f} MB", bytes / 1e6);
	return bytes < 1e3 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.0f} kB", bytes / 1e3);
}

} // namespace monitor::report
