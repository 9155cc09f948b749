// SPDX-License-Identifier: MIT
#include "statistics_table.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/ranges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monitor::report {
namespace {

using activities::Distribution;
using activities::ThreadTable;

double ns_of(double ticks, const trace::Clock &clock)
{
	return ticks * 1e9 / static_cast<double>(clock.frequency_hz);
}

Cell cell_of(const activities::Cell &cell, const ThreadTable &threads)
{
	if (cell.kind == activities::Cell::Kind::none)
		return {};
	const bool says_machine = cell.is_of_machine && threads.are_of_several();
	if (cell.kind == activities::Cell::Kind::unsigned_number && cell.text.empty() && !says_machine)
		return cell.bits;
	return cell.shown(threads);
}

std::string text_of(const std::vector<activities::Cell> &cells, const ThreadTable &threads)
{
	std::string text;
	for (const activities::Cell &cell : cells)
		text += (text.empty() ? "" : ", ") + cell.shown(threads);
	return text;
}

// Every row, ordered by its text.
std::vector<const activities::DistributionRow *> ordered(const activities::Rows &rows, const ThreadTable &threads)
{
	std::multimap<std::string, const activities::DistributionRow *> by_text;
	for (const auto &[key, row] : rows.all())
		by_text.emplace(text_of(row.cells, threads), &row);
	return list_of<const activities::DistributionRow *>(by_text, [](const auto &each) { return each.second; });
}

// Keys with threads get a column with their process.
bool adds_process(const std::vector<std::string> &names)
{
	return std::any_of(names.begin(), names.end(), trace::names_a_thread) &&
	       std::find(names.begin(), names.end(), "process") == names.end();
}

void add_key_columns(Table &table, const std::vector<std::string> &names)
{
	for (const std::string &name : names)
		table.columns.push_back({name, name, Unit::text});
	if (adds_process(names))
		table.columns.push_back({"process", "process", Unit::text});
}

// The cells of those columns.
std::vector<Cell> key_cells(const std::vector<activities::Cell> &cells, const std::vector<std::string> &names,
			    const ThreadTable &threads)
{
	std::vector<Cell> row;
	row.reserve(cells.size() + 1);
	for (const activities::Cell &cell : cells)
		row.push_back(cell_of(cell, threads));
	if (!adds_process(names))
		return row;
	const auto thread = std::find_if(cells.begin(), cells.end(), [](const activities::Cell &cell) {
		return cell.kind == activities::Cell::Kind::thread;
	});
	row.emplace_back();
	if (thread != cells.end())
		row.back() = threads.thread(thread->machine,
					    threads.process(thread->machine, static_cast<std::int64_t>(thread->bits)));
	return row;
}

std::vector<const activities::DistributionRow *> largest(const activities::Rows &rows, const ThreadTable &threads,
							 std::size_t max_rows)
{
	auto all = ordered(rows, threads);
	std::stable_sort(all.begin(), all.end(),
			 [](const activities::DistributionRow *a, const activities::DistributionRow *b) {
				 return a->values.count() > b->values.count();
			 });
	all.resize(std::min(all.size(), max_rows));
	return all;
}

// Columns: mean, standard deviation, minimum, percentiles, maximum.
void add_shape_columns(Table &table, const std::string &suffix, Unit unit)
{
	for (const auto &[key, title] :
	     {std::pair("mean", "mean"), std::pair("stddev", "std dev"), std::pair("min", "min"),
	      std::pair("p50", "p50"), std::pair("p90", "p90"), std::pair("p99", "p99"), std::pair("max", "max")})
		table.columns.push_back({key + suffix, title, unit});
}

// The range of numbers of the same sign with as many bits.
std::pair<std::int64_t, std::int64_t> power_around(std::int64_t value)
{
	if (value == 0)
		return {0, 0};
	const std::uint64_t magnitude =
	    value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
	const std::uint64_t least = std::bit_floor(magnitude);
	if (value > 0)
		return {static_cast<std::int64_t>(least), static_cast<std::int64_t>(2 * least - 1)};
	return {static_cast<std::int64_t>(0 - (2 * least - 1)), static_cast<std::int64_t>(0 - least)};
}

template <class Convert> void add_shape(std::vector<Cell> &row, const Distribution &values, const Convert &convert)
{
	if (values.count() == 0) {
		row.resize(row.size() + 7);
		return;
	}
	const double shape[] = {values.mean(),
				values.standard_deviation(),
				static_cast<double>(values.min()),
				static_cast<double>(values.percentile(0.5)),
				static_cast<double>(values.percentile(0.9)),
				static_cast<double>(values.percentile(0.99)),
				static_cast<double>(values.max())};
	for (const double value : shape)
		row.emplace_back(convert(value));
}

Cell rate_of(std::uint64_t count, double wall_ns)
{
	return wall_ns > 0 ? Cell(static_cast<double>(count) / wall_ns * 1e9) : Cell();
}

// Calls visit(first, last, count) per power of two, in order.
template <class Visit> void visit_powers(const Distribution &values, const Visit &visit)
{
	std::int64_t first = 0, last = -1;
	std::uint64_t sum = 0;
	values.visit([&](std::int64_t from, std::int64_t to, std::uint64_t count) {
		if (sum == 0 || from > last) {
			if (sum)
				visit(first, last, sum);
			std::tie(first, last) = power_around(from < 0 ? to : from);
			sum = 0;
		}
		sum += count;
	});
	if (sum)
		visit(first, last, sum);
}

// A plain number, exact if a cell can hold it.
Cell plain_cell(std::int64_t value)
{
	return value >= 0 ? Cell(static_cast<std::uint64_t>(value)) : Cell(static_cast<double>(value));
}

// Of a number, or of a duration in ticks of this clock.
std::string value_text(std::int64_t value, const trace::Clock *ticks)
{
	if (ticks)
		return duration_text(ns_of(static_cast<double>(value), *ticks));
	const auto bits = static_cast<std::uint64_t>(value);
	return value < 0 ? '-' + count_text(0 - bits) : count_text(bits);
}

nlohmann::ordered_json cells_json(const std::vector<activities::Cell> &cells, const ThreadTable &threads)
{
	auto all = nlohmann::ordered_json::array();
	for (const activities::Cell &cell : cells) {
		const Cell shown = cell_of(cell, threads);
		if (const auto *number = std::get_if<std::uint64_t>(&shown))
			all.push_back(*number);
		else if (const auto *text = std::get_if<std::string>(&shown))
			all.push_back(*text);
		else
			all.push_back(nullptr);
	}
	return all;
}

} // namespace

Table counts_table(const statistics::Counts &counts, const trace::Description &description, double wall_ns)
{
	Table table;
	table.columns = {
	    {"event", "event", Unit::text}, {"count", "count", Unit::count}, {"per_second", "per second", Unit::ratio}};
	const auto by_name = counts.by_name();
	for (const auto &cls : description.classes())
		if (const std::uint64_t count = by_name[cls->index])
			table.rows.push_back({cls->name, count, rate_of(count, wall_ns)});
	return table;
}

Table frequencies_table(const statistics::Frequencies &frequencies, const trace::Description &description,
			const std::vector<std::string> &by, const ThreadTable &threads, double wall_ns)
{
	Table table;
	table.columns = {{"event", "event", Unit::text}};
	add_key_columns(table, by);
	table.columns.push_back({"count", "count", Unit::count});
	table.columns.push_back({"per_second", "per second", Unit::ratio});
	add_shape_columns(table, "_between_ns", Unit::nanoseconds);
	std::multimap<std::string, std::vector<Cell>> ordered;
	for (const auto &keyed : frequencies.groups()) {
		const trace::EventClass &cls = *description.classes()[keyed.cls];
		std::vector<Cell> row = key_cells(keyed.cells, by, threads);
		row.insert(row.begin(), cls.name);
		row.insert(row.end(), {keyed.group.count, rate_of(keyed.group.count, wall_ns)});
		add_shape(row, keyed.group.between, [&](double ticks) { return ns_of(ticks, description.clock); });
		ordered.emplace(cls.name + ' ' + text_of(keyed.cells, threads), std::move(row));
	}
	for (auto &[text, row] : ordered)
		table.rows.push_back(std::move(row));
	return table;
}

Table pairs_table(const activities::Rows &rows, const std::vector<std::string> &columns, const ThreadTable &threads,
		  const trace::Clock &clock)
{
	Table table;
	add_key_columns(table, columns);
	table.columns.push_back({"count", "count", Unit::count});
	table.columns.push_back({"total_ns", "total", Unit::nanoseconds});
	table.figure = {"total_ns", ""};
	add_shape_columns(table, "_ns", Unit::nanoseconds);
	for (const activities::DistributionRow *found : ordered(rows, threads)) {
		std::vector<Cell> row = key_cells(found->cells, columns, threads);
		row.emplace_back(found->values.count());
		row.emplace_back(ns_of(found->values.total(), clock));
		add_shape(row, found->values, [&](double ticks) { return ns_of(ticks, clock); });
		table.rows.push_back(std::move(row));
	}
	return table;
}

Table values_table(const activities::Rows &rows, const activities::Keys &of, const std::vector<std::string> &by,
		   const ThreadTable &threads)
{
	const double parts = of.is_real() ? activities::Keys::real_parts : 1;
	const auto plain = [&](double counted) { return counted / parts; };
	Table table;
	add_key_columns(table, by);
	table.columns.push_back({"count", "count", Unit::count});
	table.columns.push_back({"total", "total " + of.names().front(), Unit::ratio});
	add_shape_columns(table, "", Unit::ratio);
	for (Column &column : table.columns)
		if (!of.is_real() && (column.key == "total" || column.key == "min" || column.key == "max"))
			column.unit = Unit::count; // integers, like the values
	for (const activities::DistributionRow *found : ordered(rows, threads)) {
		std::vector<Cell> row = key_cells(found->cells, by, threads);
		row.emplace_back(found->values.count());
		const double total = found->values.total();
		row.push_back(!of.is_real() && std::abs(total) < 9e18 ? plain_cell(static_cast<std::int64_t>(total))
								      : Cell(plain(total)));
		add_shape(row, found->values, plain);
		if (!of.is_real() && found->values.count() > 0) {
			row[row.size() - 5] = plain_cell(found->values.min());
			row.back() = plain_cell(found->values.max());
		}
		table.rows.push_back(std::move(row));
	}
	return table;
}

Table joined(const std::vector<std::pair<std::string, Table>> &parts)
{
	Table all;
	all.columns.push_back({"activity", "activity", Unit::text});
	const auto find = [&](const std::string &key) { return std::ranges::find(all.columns, key, &Column::key); };
	for (const bool is_measured : {false, true}) // key columns come first
		for (const auto &[name, part] : parts)
			for (const Column &column : part.columns)
				if ((column.unit != Unit::text) == is_measured && find(column.key) == all.columns.end())
					all.columns.push_back(column);
	for (const auto &[name, part] : parts)
		for (const auto &row : part.rows) {
			std::vector<Cell> &made = all.rows.emplace_back(all.columns.size());
			made.front() = name;
			for (std::size_t i = 0; i < row.size(); ++i)
				made[static_cast<std::size_t>(find(part.columns[i].key) - all.columns.begin())] =
				    row[i];
		}
	return all;
}

std::string unpaired_text(const activities::Pairs &pairs)
{
	const auto unpaired = pairs.unpaired();
	std::string text;
	const auto add = [&](std::uint64_t count, const char *what) {
		if (count)
			text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count_text(count), what);
	};
	add(unpaired.ends, "ends without a start");
	add(unpaired.late, "ended after the limit");
	add(unpaired.open, "still open at the end");
	add(unpaired.restarted, "started again before they ended");
	add(unpaired.cut, "cut off by losses");
	add(unpaired.keyless, "without a value of the key");
	add(unpaired.too_many, "not followed, as too many were open at a time");
	add(pairs.rows().left_out(), "in no row, as there are too many rows");
	return text;
}

std::string unpaired_json(const activities::Pairs &pairs)
{
	const auto unpaired = pairs.unpaired();
	return json_dump(nlohmann::ordered_json{{"ends", unpaired.ends},
						{"late", unpaired.late},
						{"open", unpaired.open},
						{"restarted", unpaired.restarted},
						{"cut", unpaired.cut},
						{"keyless", unpaired.keyless},
						{"too_many", unpaired.too_many},
						{"in_no_row", pairs.rows().left_out()}});
}

std::vector<Bins> bins_of(const activities::Rows &rows, const ThreadTable &threads, const trace::Clock *ticks,
			  std::size_t max_rows)
{
	const auto shown = [&](std::int64_t value) { return value_text(value, ticks); };
	constexpr std::int64_t max_doubled = std::int64_t(1) << 61;
	std::vector<Bins> all;
	for (const activities::DistributionRow *row : largest(rows, threads, max_rows)) {
		Bins &made = all.emplace_back();
		made.row = printable(text_of(row->cells, threads));
		std::int64_t next = 0; // the smallest value not visited yet
		visit_powers(row->values, [&](std::int64_t first, std::int64_t last, std::uint64_t count) {
			for (; next > 0 && next < first; next *= 2)
				made.bins.push_back({shown(next), shown(2 * next - 1), 0});
			next = last < max_doubled ? last + 1 : 0;
			made.bins.push_back({shown(first), shown(last), count});
		});
	}
	return all;
}

std::string histograms_text(const activities::Rows &rows, const ThreadTable &threads, const trace::Clock *ticks,
			    std::size_t max_rows)
{
	constexpr std::size_t bar_width = 50;
	std::string text;
	for (const Bins &row : bins_of(rows, threads, ticks, max_rows)) {
		std::uint64_t most = 1;
		for (const Bin &bin : row.bins)
			most = std::max(most, bin.count);
		text += fmt::format("\n{}\n", row.row);
		for (const Bin &bin : row.bins) {
			if (bin.count == 0)
				continue;
			const auto bar =
			    static_cast<std::size_t>(static_cast<double>(bin.count) / static_cast<double>(most) *
						     static_cast<double>(bar_width));
			text += fmt::format("{:>12} .. {:<12} {:>12} {}\n", bin.first, bin.last, count_text(bin.count),
					    std::string(std::max<std::size_t>(bar, 1), '#'));
		}
	}
	return text;
}

std::string histograms_json(const activities::Rows &rows, const ThreadTable &threads, const trace::Clock *ticks)
{
	auto all = nlohmann::ordered_json::array();
	const auto plain = [&](std::int64_t value) -> nlohmann::ordered_json {
		if (ticks)
			return ns_of(static_cast<double>(value), *ticks);
		return value;
	};
	for (const activities::DistributionRow *row : ordered(rows, threads)) {
		auto buckets = nlohmann::ordered_json::array();
		row->values.visit([&](std::int64_t first, std::int64_t last, std::uint64_t count) {
			buckets.push_back({{"first", plain(first)}, {"last", plain(last)}, {"count", count}});
		});
		all.push_back({{"row", cells_json(row->cells, threads)}, {"buckets", buckets}});
	}
	return json_dump(all);
}

} // namespace monitor::report
