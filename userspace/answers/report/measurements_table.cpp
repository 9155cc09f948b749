// SPDX-License-Identifier: MIT
#include "measurements_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/json.h"
#include "monitor/ratio.h"
#include "reading/analyze/measure.h"

namespace monitor::report {
namespace {

using analyze::CounterSums;
using analyze::Measurement;

constexpr const char *counting_suffix = "_counting_percent";

struct MeasuredRow {
	std::vector<Cell> head;
	CounterSums sums;
};

constexpr unsigned measurement_rank = 8;

Column column_of(const Measurement &measurement)
{
	const std::string meaning = "what record -m counted: " + printable(measurement.formula);
	if (measurement.unit == "%")
		return {measurement.name, measurement.name + "%", Unit::percent, measurement_rank, meaning};
	const std::string title =
	    measurement.unit.empty() ? measurement.name : fmt::format("{} ({})", measurement.name, measurement.unit);
	return {measurement.name, title, measurement.per == analyze::Per::nothing ? Unit::count : Unit::ratio,
		measurement_rank, meaning};
}

Cell cell_of(const Measurement &measurement, const analyze::Measured &measured)
{
	if (measured.below)
		return measurement.unit == "%" ? fmt::format("< {:.2g} %", *measured.below * 100)
					       : fmt::format("< {:.2g}", *measured.below);
	if (!measured.value)
		return {};
	if (measurement.unit == "%")
		return *measured.value * 100;
	const double value = *measured.value;
	const bool whole = measurement.per == analyze::Per::nothing && measured.counting == 1 && value >= 0 &&
			   value < static_cast<double>(1ull << 53) && value == std::floor(value);
	return whole ? Cell(static_cast<std::uint64_t>(value)) : Cell(value);
}

std::uint64_t time_of(const CounterSums &sums)
{
	return sums.ticks.empty() ? sums.ratio_ticks
				  : std::max(sums.ratio_ticks, *std::ranges::max_element(sums.ticks));
}

std::vector<MeasuredRow> rows_by_cpu(const analyze::CounterPart &part)
{
	std::vector<MeasuredRow> rows;
	rows.reserve(part.cpus.size());
	for (const auto &[cpu, counted] : part.cpus)
		rows.push_back({{static_cast<std::uint64_t>(cpu)}, counted});
	return rows;
}

std::vector<MeasuredRow> rows_by_group(const analyze::CounterPart &part, CounterSums idle,
				       const analyze::ThreadFold &thread_fold, Grouping &grouping)
{
	const analyze::Scope &scope = thread_fold.scope();

	std::vector<MeasuredRow> rows;
	std::vector<const analyze::Thread *> threads; // in the same order in every run
	for (const auto &[thread, cgroups] : part.threads)
		if (thread->selected)
			threads.push_back(thread);
	std::ranges::sort(threads, {},
			  [](const analyze::Thread *thread) { return std::pair(thread->tid, thread->born); });
	std::map<std::size_t, CounterSums> sums;
	for (const analyze::Thread *thread : threads) {
		const std::uint64_t first =
		    thread->left.empty() ? thread_fold.cgroup_of(*thread) : thread->left.front().cgroup;
		for (const auto &[known, counted] : part.threads.at(thread)) {
			const std::uint64_t cgroup = known ? known : first;
			if (thread->tid == 0)
				idle += counted;
			else if (scope.includes_cgroup(cgroup))
				sums[grouping.row_of(*thread, cgroup)] += counted;
		}
	}
	rows.reserve(sums.size() + 2);
	for (auto &[row, counted] : sums)
		rows.push_back({grouping.cells(grouping.rows()[row]), std::move(counted)});
	std::ranges::stable_sort(
	    rows, [](const MeasuredRow &a, const MeasuredRow &b) { return time_of(a.sums) > time_of(b.sums); });
	if (scope.threads)
		return rows;
	rows.push_back({grouping.cells({"idle", -1, false, false}), std::move(idle)});
	if (time_of(part.unknown))
		rows.push_back({grouping.cells({"unknown", -1, false, false}), part.unknown});
	return rows;
}

// The smallest fraction of time in which a measurement's counters were counting, over all rows.
double min_counting(const Table &table, const std::string &name)
{
	double least = 100;
	for (std::size_t column = 0; column < table.columns.size(); ++column)
		if (table.columns[column].key == name + counting_suffix)
			for (const auto &row : table.rows)
				if (const double *share = std::get_if<double>(&row[column]))
					least = std::min(least, *share);
	return least;
}

bool has_value(const Table &table, const std::string &name)
{
	for (std::size_t column = 0; column < table.columns.size(); ++column)
		if (table.columns[column].key == name)
			for (const auto &row : table.rows)
				if (!std::holds_alternative<std::monostate>(row[column]))
					return true;
	return false;
}

// Why no row has a value of a measurement; "" if one has.
std::string why_none(const Measurement &measurement, const Table &table)
{
	if (!measurement.missing.empty() || has_value(table, measurement.name))
		return measurement.missing;
	return measurement.ratio ? "nothing to divide by, or above full scale"
				 : "its counters never had a turn, or there was nothing to divide by";
}

} // namespace

void add_measurement_columns(const analyze::CountersInfo &info, std::vector<Column> &columns)
{
	columns.push_back({"counted_ns", "time", Unit::nanoseconds, measurement_rank + 1, "in which it was counted"});
	for (const Measurement &measurement : info.measurements) {
		columns.push_back(column_of(measurement));
		columns.push_back({measurement.name + counting_suffix, "counting%", Unit::percent, measurement_rank + 2,
				   "for how much of the time; the figure is scaled up from that"});
	}
}

void add_measurements(const analyze::CountersInfo &info, const CounterSums &sums, const trace::Clock &clock,
		      std::vector<Cell> &cells)
{
	cells.emplace_back(clock.to_ns(time_of(sums)));
	for (const Measurement &measurement : info.measurements) {
		const analyze::Measured measured = analyze::measure(measurement, sums, info, clock);
		cells.push_back(cell_of(measurement, measured));
		cells.push_back(measured.value ? Cell(measured.counting * 100) : Cell());
	}
}

Table measurements_table(const analyze::CounterFold &fold, const analyze::ThreadFold &thread_fold,
			 const trace::Clock &clock, const MeasurementsOptions &options)
{
	Table table;
	Grouping grouping(thread_fold, options.grouping);
	const bool by_cpu = options.grouping.by == GroupBy::cpu;
	if (options.every_ticks)
		table.columns.push_back(
		    {"from_ns", "from", Unit::nanoseconds, 0, "where the interval of --every begins"});
	for (const Column &column :
	     by_cpu ? std::vector<Column>{{"cpu", "CPU", Unit::count, 0, "its number"}} : grouping.columns())
		table.columns.push_back(column);
	add_measurement_columns(fold.info(), table.columns);
	for (const auto &[number, part] : fold.parts())
		for (const MeasuredRow &row :
		     by_cpu ? rows_by_cpu(part) : rows_by_group(part, fold.none(), thread_fold, grouping)) {
			std::vector<Cell> cells;
			if (options.every_ticks)
				cells.emplace_back(clock.to_ns(number * options.every_ticks));
			cells.insert(cells.end(), row.head.begin(), row.head.end());
			add_measurements(fold.info(), row.sums, clock, cells);
			table.rows.push_back(std::move(cells));
		}
	return table;
}

Table without_exact(const Table &table)
{
	Table shown;
	std::vector<std::size_t> kept;
	for (std::size_t i = 0; i < table.columns.size(); ++i) {
		const std::string &key = table.columns[i].key;
		if (!key.ends_with(counting_suffix) ||
		    min_counting(table, key.substr(0, key.size() - std::string(counting_suffix).size())) < 100)
			kept.push_back(i);
	}
	for (const std::size_t i : kept)
		shown.columns.push_back(table.columns[i]);
	for (const auto &row : table.rows) {
		shown.rows.emplace_back();
		for (const std::size_t i : kept)
			shown.rows.back().push_back(row[i]);
	}
	return shown;
}

std::string provenance_text(const analyze::CountersInfo &info, const Table &table)
{
	std::string text;
	std::map<std::string, std::string> missing; // names by reason
	bool scaled = false, counted = false;
	for (const Measurement &measurement : info.measurements) {
		const std::string why = why_none(measurement, table);
		if (why.empty())
			(min_counting(table, measurement.name) < 100 ? scaled : counted) = true;
		else
			missing[why] += (missing[why].empty() ? "" : ", ") + measurement.name;
	}
	// A code's error is below 1 / 2^bits of full scale; its weight, the denominator, is truncated to as many bits,
	// which changes a mean by at most a quarter of that.
	if (info.ratio_bits)
		text += fmt::format("recorded as ratios of {} bits: off by less than {:.2g} % of full scale; -: above "
				    "full scale in some interval\n",
				    info.ratio_bits == EDC_RATIO_BITS_16 ? 16 : 32,
				    125.0 / static_cast<double>(1u << info.ratio_bits));
	else if (scaled)
		text += "counting%: scaled up from this share of the time, as there are fewer counters than were "
			"requested: an estimate\n";
	else if (counted)
		text += "counted: all counters were counting all the time\n";
	for (const auto &[reason, names] : missing)
		text += fmt::format("n/a: {}: {}\n", printable(names), printable(reason));
	return text;
}

std::string uncounted_text(const analyze::CounterFold &fold)
{
	const std::set<std::uint32_t> &cpus = fold.uncounted();
	return cpus.empty()
		   ? ""
		   : fmt::format(
			 "unknown: what ran on CPU {} since it came online: its counters ended when it went offline\n",
			 fmt::join(cpus, ", "));
}

std::string provenance_json(const analyze::CountersInfo &info, const Table &table)
{
	auto all = nlohmann::ordered_json::array();
	for (const Measurement &measurement : info.measurements) {
		const double least = min_counting(table, measurement.name);
		const std::string why = why_none(measurement, table);
		const char *state = !why.empty()        ? "n/a"
				    : measurement.ratio ? "ratio"
				    : least < 100       ? "scaled"
							: "counted";
		all.push_back({{"name", measurement.name},
			       {"unit", measurement.unit},
			       {"group", measurement.group},
			       {"formula", measurement.formula},
			       {"state", state},
			       {"reason", why}});
	}
	return json_dump(all, 1);
}

} // namespace monitor::report
