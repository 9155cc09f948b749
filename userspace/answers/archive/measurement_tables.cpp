// SPDX-License-Identifier: MIT
#include "measurement_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "answers/plot/from_table.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/text_width.h"

namespace monitor::archive {
namespace {

using report::Cell;
using report::cell_of;
using report::Format;
using report::Table;
using report::Unit;

// Avoids the copies of an initializer list.
template <class... Cells> void add_row(Table &table, Cells &&...cells)
{
	std::vector<Cell> &row = table.rows.emplace_back();
	row.reserve(sizeof...(cells));
	(row.emplace_back(std::forward<Cells>(cells)), ...);
}

std::optional<double> value_of(const Entry &entry, const Figure &figure)
{
	const auto found = entry.figures.find(figure.text());
	return found == entry.figures.end() ? std::nullopt : found->second;
}

// Counts are printed as integers.
Cell cell_of(const std::optional<double> &value, const Figure &figure)
{
	if (value && figure.unit() == Unit::count && *value >= 0 && *value < 1e15)
		return static_cast<std::uint64_t>(std::llround(*value));
	return report::cell_of(value);
}

// "2026-11-26 03:45"
std::string short_date(const std::string &date)
{
	constexpr std::size_t day = 10, minute = 16;
	return date.size() > minute && date[day] == 'T'
		   ? date.substr(0, day) + " " + date.substr(day + 1, minute - day - 1)
		   : date;
}

bool is_incomplete(const Entry &entry)
{
	return !entry.complete || entry.lost.value_or(1) > 0;
}

std::string sign_of(double value)
{
	return value < 0 ? "-" : value > 0 ? "+" : "";
}

} // namespace

constexpr std::size_t max_command = 80; // characters, in text

Table list_table(const std::vector<Entry> &entries, const std::string &archive, Format format)
{
	Table table;
	if (format == Format::text) {
		table.columns = {{"name", "name", Unit::text},
				 {"date", "date", Unit::text},
				 {"host", "host", Unit::text},
				 {"command", "command", Unit::text},
				 {"elapsed_ns", "elapsed", Unit::nanoseconds},
				 {"lost", "lost", Unit::count},
				 {"note", "note", Unit::text}};
		for (const Entry &entry : entries)
			add_row(table, entry.name, cell_of(short_date(entry.date)), cell_of(entry.host),
				cell_of(report::cut_text(entry.command, max_command)), cell_of(entry.elapsed_ns),
				cell_of(entry.lost), entry.note);
		return table;
	}
	for (const char *name : {"name", "trace", "note", "date", "added", "user", "host", "kernel", "command"})
		table.columns.push_back({name, name, Unit::text});
	table.columns.push_back({"complete", "complete", Unit::flag});
	table.columns.push_back({"elapsed_ns", "elapsed", Unit::nanoseconds});
	for (const char *name : {"tokens", "lost", "bytes"})
		table.columns.push_back({name, name, Unit::count});
	for (const Entry &entry : entries)
		add_row(table, entry.name, trace_of(archive, entry.name), entry.note, cell_of(entry.date),
			cell_of(entry.added), cell_of(entry.user), cell_of(entry.host), cell_of(entry.kernel),
			cell_of(entry.command), entry.complete, cell_of(entry.elapsed_ns), cell_of(entry.tokens),
			cell_of(entry.lost), cell_of(entry.bytes));
	return table;
}

Table history_table(const std::vector<Entry> &entries, const std::vector<Figure> &figures)
{
	Table table;
	table.columns = {{"name", "measurement", Unit::text}, {"date", "date", Unit::text}};
	for (const Figure &figure : figures)
		table.columns.push_back({figure.text(), printable(figure.text()), figure.unit()});
	table.columns.push_back({"lost", "lost", Unit::count});
	for (const Entry &entry : entries) {
		auto &row = table.rows.emplace_back();
		row = {entry.name, cell_of(short_date(entry.date))};
		for (const Figure &figure : figures)
			row.push_back(cell_of(value_of(entry, figure), figure));
		row.push_back(cell_of(entry.lost));
	}
	return table;
}

plot::Chart history_chart(const std::vector<Entry> &entries, const Figure &figure, const std::string &subject)
{
	constexpr std::size_t max_bars = 40;
	if (entries.size() <= max_bars)
		return plot::chart_of(history_table(entries, {figure}), {subject, figure.text()});
	plot::Chart chart;
	chart.kind = plot::Chart::Kind::series;
	chart.title = printable(fmt::format("{}: {} over {} measurements", subject, figure.text(), entries.size()));
	chart.begin = printable(entries.front().name + ", " + short_date(entries.front().date));
	chart.end = printable(entries.back().name + ", " + short_date(entries.back().date));
	plot::Series &series = chart.series.emplace_back();
	series.label = figure.text();
	series.unit = figure.unit();
	for (const Entry &entry : entries) {
		chart.times.push_back(static_cast<double>(chart.times.size()));
		series.values.push_back(value_of(entry, figure));
	}
	return chart;
}

std::string history_note(const std::vector<Entry> &entries)
{
	const auto number = std::ranges::count_if(entries, is_incomplete);
	return number ? fmt::format("{} of {} recordings lost events, or it is not known whether they did: their "
				    "figures cover what was recorded\n",
				    number, entries.size())
		      : "";
}

Table comparison_table(const Entry &first, const Entry &second, const std::vector<Figure> &figures, Format format)
{
	Table table;
	const bool is_text = format == Format::text;
	const Unit unit = is_text ? Unit::text : Unit::ratio;
	table.columns = {{"figure", "figure", Unit::text}, {"unit", "unit", Unit::text}};
	table.columns.push_back({"first", is_text ? printable(first.name) : "first", unit});
	table.columns.push_back({"second", is_text ? printable(second.name) : "second", unit});
	table.columns.push_back({"difference", "difference", unit});
	table.columns.push_back({"ratio", "ratio", Unit::ratio});
	if (is_text)
		table.columns.erase(table.columns.begin() + 1); // durations have it in their names
	for (const Figure &figure : figures) {
		const auto a = value_of(first, figure), b = value_of(second, figure);
		const auto difference = a && b ? std::optional(*b - *a) : std::nullopt;
		const Cell ratio = a && b && *a != 0 ? Cell(*b / *a) : Cell();
		const auto shown = [&](const std::optional<double> &value) {
			return value ? Cell(report::cell_text(std::abs(*value), figure.unit())) : Cell();
		};
		if (is_text)
			table.rows.push_back(
			    {figure.text(), shown(a), shown(b),
			     difference ? Cell(sign_of(*difference) + std::get<std::string>(shown(difference)))
					: Cell(),
			     ratio});
		else
			table.rows.push_back({figure.text(), std::string(figure.unit() == Unit::count ? "" : "ns"),
					      cell_of(a, figure), cell_of(b, figure), cell_of(difference), ratio});
	}
	return table;
}

std::string entry_text(const Entry &entry, const std::string &archive)
{
	std::string text;
	std::size_t width = 10;
	for (const auto &[name, value] : entry.figures)
		width = std::max(width, text_width(printable(name)));
	const auto add = [&](const std::string &name, const std::string &value) {
		const std::string shown = printable(name);
		text += fmt::format("{}{} {}\n", shown, std::string(width - text_width(shown), ' '),
				    value.empty() ? "-" : printable(value));
	};
	const auto count = [](const std::optional<std::uint64_t> &number) {
		return number ? report::count_text(*number) : "unknown";
	};
	add("name", entry.name);
	add("trace", trace_of(archive, entry.name));
	add("note", entry.note);
	add("command", entry.command);
	add("date", entry.date);
	add("added", entry.added);
	add("user", entry.user);
	add("host", entry.host);
	add("kernel", entry.kernel);
	add("elapsed", entry.elapsed_ns ? report::duration_text(*entry.elapsed_ns) : "unknown");
	add("tokens", count(entry.tokens));
	add("lost", count(entry.lost));
	add("bytes", count(entry.bytes));
	add("complete", entry.complete ? "yes" : "no");
	for (const auto &[name, value] : entry.figures)
		try {
			if (parse_figure(name).kind == Figure::Kind::elapsed) // it is printed above
				continue;
			add(name, value ? report::cell_text(*value, parse_figure(name).unit()) : "unknown");
		} catch (const Error &) { // of another version: unknown
			add(name, value ? fmt::format("{}", *value) : "unknown");
		}
	return text;
}

std::vector<std::string> add_missing_figures(Entry &entry, const std::string &archive,
					     const std::vector<Figure> &figures)
{
	std::vector<Figure> missing = figures;
	std::erase_if(missing, [&](const Figure &figure) { return entry.figures.contains(figure.text()); });
	if (missing.empty())
		return {};
	Measured measured;
	try {
		measured = measure(trace_of(archive, entry.name), missing);
	} catch (const Error &error) {
		return {fmt::format("{}: its figures are unknown: {}", printable(entry.name), error.what())};
	}
	entry.figures.insert(measured.values.begin(), measured.values.end());
	if (!measured.problems.empty() || !measured.is_final)
		return measured.problems; // not kept, so this is reported each time
	try {
		store_figures(archive + "/" + entry.name, measured.values);
	} catch (const Error &) { // another user's archive, or too many figures: valid, but computed again next time
	}
	return {};
}

std::vector<std::string> missing_calls(const std::vector<Entry> &entries, const std::vector<Figure> &figures)
{
	std::vector<std::string> sentences;
	for (const Figure &figure : figures) {
		const auto has_value = [&](const Entry &entry) { return value_of(entry, figure).has_value(); };
		const auto has_no_call = [&](const Entry &entry) { return !entry.figures.contains(figure.text()); };
		if (figure.kind == Figure::Kind::calls && std::ranges::none_of(entries, has_value) &&
		    std::ranges::any_of(entries, has_no_call))
			sentences.push_back("no measurement has calls named " + figure.subject);
	}
	return sentences;
}

} // namespace monitor::archive
