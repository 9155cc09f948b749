// SPDX-License-Identifier: MIT
#include "from_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"

namespace monitor::plot {
namespace {

using report::Cell;
using report::Column;
using report::Table;
using report::Unit;

// Number columns that identify a row, or its time.
constexpr std::string_view identifying[] = {"pid", "tid", "cpu", "argument", "from_ns", "to_ns", "counted_ns"};

bool is_figure(const Column &column)
{
	return column.unit != Unit::text && column.unit != Unit::flag && column.unit != Unit::instant &&
	       std::ranges::find(identifying, column.key) == std::end(identifying) &&
	       !column.key.ends_with("_counting_percent");
}

std::size_t find_column(const Table &table, std::string_view key)
{
	const auto found = std::ranges::find(table.columns, key, &Column::key);
	return static_cast<std::size_t>(found - table.columns.begin());
}

// The columns that identify a row, if before the first figure; or all, if that comes first.
std::vector<std::size_t> label_columns(const Table &table)
{
	std::vector<std::size_t> before, all;
	bool is_before = true;
	for (std::size_t i = 0; i < table.columns.size(); ++i) {
		const Column &column = table.columns[i];
		is_before = is_before && !is_figure(column);
		if (column.unit != Unit::text && column.key != "pid" && column.key != "tid" && column.key != "cpu" &&
		    column.key != "argument")
			continue;
		all.push_back(i);
		if (is_before)
			before.push_back(i);
	}
	return before.empty() ? all : before;
}

// "sh (123), read": the number of a thread or process is in parentheses after its name.
std::string label_of(const Table &table, const std::vector<Cell> &row, const std::vector<std::size_t> &columns)
{
	std::string label;
	for (const std::size_t i : columns) {
		const Column &column = table.columns[i];
		const std::string text = report::cell_text(row[i], column.unit);
		if ((column.key == "pid" || column.key == "tid") && !label.empty())
			label += text == "-" ? "" : " (" + text + ")";
		else
			label +=
			    (label.empty() ? "" : ", ") + (column.unit == Unit::count ? column.title + " " : "") + text;
	}
	return label;
}

// "process, call"
std::string label_titles(const Table &table, const std::vector<std::size_t> &columns)
{
	std::string titles;
	for (const std::size_t i : columns)
		if (const Column &column = table.columns[i]; column.key != "pid" && column.key != "tid")
			titles += (titles.empty() ? "" : ", ") + printable(column.title);
	return titles;
}

std::string joined_title(const std::string &subject, const std::string &rest)
{
	return subject.empty() ? rest : printable(subject) + ": " + rest;
}

std::optional<double> finite_number(const Cell &cell)
{
	const auto number = report::number_of(cell);
	return number && std::isfinite(*number) ? number : std::nullopt;
}

std::size_t chosen_column(const Table &table, const std::string &wanted)
{
	if (std::ranges::any_of(table.columns, [](const Column &column) { return column.unit == Unit::instant; }))
		throw Error("this table lists moments, so there is nothing to draw: leave out --plot and --svg");
	if (!wanted.empty()) {
		const std::size_t column = table.column(wanted);
		if (is_figure(table.columns[column]))
			return column;
		throw Error("the column {} has no figures, so it cannot be drawn: sort by another one",
			    table.columns[column].key);
	}
	if (const std::size_t own = find_column(table, table.figure.key); own < table.columns.size())
		return own;
	const auto first = std::ranges::find_if(table.columns, is_figure);
	if (first == table.columns.end())
		throw Error("this table has no figures that could be drawn: leave out --plot and --svg");
	return static_cast<std::size_t>(first - table.columns.begin());
}

// An unknown share of a time is a part of it; one beside a share has the same whole, so it is added.
void set_unknown(Bar &bar, double share_percent, Unit unit)
{
	if (!bar.value || !(share_percent > 0))
		return;
	if (unit == Unit::percent) {
		bar.unknown = share_percent;
		return;
	}
	bar.unknown = *bar.value * std::min(share_percent, 100.0) / 100;
	*bar.value -= bar.unknown;
}

Chart bars_of(const Table &table, std::size_t column, const Choice &choice)
{
	const std::vector<std::size_t> labels = label_columns(table);
	const Column &drawn = table.columns[column];
	const bool is_own = drawn.key == table.figure.key;
	const std::size_t unknown = is_own ? find_column(table, table.figure.unknown_share) : table.columns.size();
	const std::size_t flag = find_column(table, "recorded");
	Chart chart;
	chart.figure = printable(drawn.title);
	chart.unit = drawn.unit;
	const std::string titles = label_titles(table, labels);
	chart.title = joined_title(choice.subject, chart.figure + (titles.empty() ? "" : " by " + titles));
	for (const auto &row : table.rows) {
		if (choice.max_bars && chart.bars.size() == choice.max_bars)
			break;
		Bar bar{label_of(table, row, labels), finite_number(row[column]), 0,
			report::cell_text(row[column], drawn.unit)};
		if (flag < table.columns.size())
			bar.label = (report::number_of(row[flag]).value_or(0) > 0 ? "* " : "  ") + bar.label;
		if (unknown < table.columns.size())
			set_unknown(bar, report::number_of(row[unknown]).value_or(0), drawn.unit);
		if (!bar.value && bar.text == "-")
			bar.text = "unknown";
		chart.bars.push_back(std::move(bar));
	}
	return chart;
}

// The chosen column for each kind of row; or, if rows differ only by time, all figures.
Chart series_of(const Table &table, std::size_t from, std::size_t column, const Choice &choice)
{
	const std::vector<std::size_t> labels = label_columns(table);
	std::vector<std::size_t> drawn = {column};
	if (labels.empty() && choice.column.empty()) {
		drawn.clear();
		for (std::size_t i = 0; i < table.columns.size(); ++i)
			if (is_figure(table.columns[i]))
				drawn.push_back(i);
	}
	std::map<double, std::size_t> index_of_time; // index of each time
	for (const auto &row : table.rows)
		if (const auto time = finite_number(row[from]))
			index_of_time[*time];
	Chart chart;
	chart.kind = Chart::Kind::series;
	chart.unit = table.columns[column].unit;
	chart.has_one_scale = drawn.size() == 1;
	chart.figure = chart.has_one_scale ? printable(table.columns[column].title) : "";
	chart.title = joined_title(choice.subject, (chart.has_one_scale ? chart.figure + " " : "") + "over time");
	for (auto &[time, index] : index_of_time) {
		index = chart.times.size();
		chart.times.push_back(time);
	}
	if (!index_of_time.empty()) {
		chart.begin = report::duration_text(index_of_time.begin()->first);
		chart.end = report::duration_text(index_of_time.rbegin()->first);
	}
	std::map<std::string, std::size_t> by_label;
	for (const auto &row : table.rows)
		for (const std::size_t i : drawn) {
			const std::string label =
			    labels.empty() ? printable(table.columns[i].key) : label_of(table, row, labels);
			const auto [found, is_new] = by_label.try_emplace(
			    fmt::format("{}\n{}", label, labels.empty() ? i : 0), chart.series.size());
			if (is_new)
				chart.series.push_back({label, table.columns[i].unit, {}});
			auto &values = chart.series[found->second].values;
			values.resize(chart.times.size());
			if (const auto time = finite_number(row[from]))
				values[index_of_time[*time]] = finite_number(row[i]);
		}
	if (labels.empty())
		return chart;
	const auto largest = [](const Series &series) {
		double sum = 0;
		for (const auto &value : series.values)
			sum += std::abs(value.value_or(0));
		return sum;
	};
	std::ranges::stable_sort(chart.series, std::greater<>(), largest);
	chart.left_out = chart.series.size() - std::min(chart.series.size(), choice.max_series);
	chart.series.resize(chart.series.size() - chart.left_out);
	return chart;
}

} // namespace

Chart chart_of(const Table &table, const Choice &choice)
{
	const std::size_t column = chosen_column(table, choice.column);
	const std::size_t from = find_column(table, "from_ns");
	return from < table.columns.size() ? series_of(table, from, column, choice) : bars_of(table, column, choice);
}

Chart chart_of(const report::Bins &bins, const std::string &subject)
{
	Chart chart;
	chart.kind = Chart::Kind::histogram;
	chart.title = joined_title(subject, bins.row.empty() ? "distribution" : printable(bins.row));
	chart.figure = "count";
	for (const report::Bin &bin : bins.bins)
		chart.bars.push_back(
		    {bin.first + " .. " + bin.last, static_cast<double>(bin.count), 0, report::count_text(bin.count)});
	return chart;
}

} // namespace monitor::plot
