// SPDX-License-Identifier: MIT
#include "step_tables.h"

#include <cmath>
#include <set>

#include <fmt/format.h>

namespace monitor::requests {
namespace {

using report::Cell;
using report::Unit;

Cell time_cell(const StepTotals &row, double p)
{
	return row.is_known() ? Cell(static_cast<double>(row.percentile(p))) : Cell();
}

Cell share_of(const Answer &answer, const StepTotals &row)
{
	if (answer.total_ns <= 0 || !row.is_known())
		return {};
	return static_cast<double>(row.share_ns) / static_cast<double>(answer.total_ns) * 100;
}

// The time columns of all tables.
void add_time_columns(std::vector<report::Column> &columns)
{
	columns.push_back({"median_ns", "median", Unit::nanoseconds, 1, "that half of them do not exceed"});
	columns.push_back({"p99_ns", "p99", Unit::nanoseconds, 2, "that 99 % of them do not exceed"});
	columns.push_back({"max_ns", "max", Unit::nanoseconds, 3, "the longest one"});
}

void add_times(const StepTotals &row, std::vector<Cell> &cells)
{
	for (const double p : {0.5, 0.99, 1.0})
		cells.push_back(time_cell(row, p));
}

std::string row_bound(const StepTotals &row)
{
	if (!row.is_known())
		return "unknown";
	const std::string bound = bound_text({0, row.max_bound_ns, row.is_exact});
	return row.unknown ? fmt::format("{}, {} unknown", bound, row.unknown) : bound;
}

std::string hosts_text(const Answer &answer, const StepTotals &row)
{
	if (row.from == row.to)
		return "on " + answer.hosts[row.from];
	return answer.hosts[row.from] + " <-> " + answer.hosts[row.to];
}

} // namespace

std::vector<std::string> hosts_of(const Answer &answer)
{
	std::set<std::uint32_t> machines;
	for (const StepTotals &row : answer.by_host)
		machines.insert({row.from, row.to});
	std::vector<std::string> names;
	for (const std::uint32_t machine : machines)
		names.push_back(answer.hosts[machine]);
	return names;
}

std::string point_text(const Answer &answer, std::uint32_t point)
{
	const Point &at = answer.points[point];
	return answer.hosts.size() > 1 ? answer.hosts[at.machine] + ' ' + at.event : at.event;
}

std::string time_text(std::int64_t ns)
{
	return (ns < 0 ? "-" : "") + report::duration_text(std::abs(static_cast<double>(ns)));
}

std::string bound_text(const Elapsed &time)
{
	if (!time.is_known())
		return "unknown";
	return time.is_exact ? "exact" : "±" + report::duration_text(static_cast<double>(*time.bound_ns));
}

report::Table table(const Answer &answer, By by)
{
	report::Table table;
	const std::vector<const char *> of_step = {"from_host", "from_event", "to_host", "to_event"},
					of_host = {"host", "other_host"};
	for (const char *key : by == By::step ? of_step : of_host)
		table.columns.push_back({key, key, Unit::text});
	table.columns.push_back({"requests", "requests", Unit::count});
	table.columns.push_back({"count", "count", Unit::count});
	add_time_columns(table.columns);
	table.columns.push_back({"total_ns", "total", Unit::nanoseconds});
	table.columns.push_back({"share_percent", "share%", Unit::percent});
	table.columns.push_back({"exact", "exact", Unit::flag});
	table.columns.push_back({"bound_ns", "bound", Unit::nanoseconds});
	table.columns.push_back({"unknown", "unknown", Unit::count});
	table.columns.push_back({"order_unknown", "order unknown", Unit::count});
	table.columns.push_back({"order", "order", Unit::text});
	for (const StepTotals &row : by == By::step ? answer.steps : answer.by_host) {
		std::vector<Cell> &cells = table.rows.emplace_back();
		if (by == By::step) {
			for (const std::uint32_t point : {row.from, row.to}) {
				cells.emplace_back(answer.hosts[answer.points[point].machine]);
				cells.emplace_back(answer.points[point].event);
			}
		} else {
			cells.emplace_back(answer.hosts[row.from]);
			cells.push_back(row.from == row.to ? Cell() : Cell(answer.hosts[row.to]));
		}
		cells.emplace_back(row.requests);
		cells.emplace_back(row.count);
		add_times(row, cells);
		cells.push_back(row.is_known() ? Cell(static_cast<double>(row.total_ns)) : Cell());
		cells.push_back(share_of(answer, row));
		cells.emplace_back(row.is_known() && row.is_exact);
		cells.push_back(row.is_known() ? Cell(row.max_bound_ns) : Cell());
		cells.emplace_back(row.unknown);
		cells.emplace_back(row.order_unknown);
		cells.emplace_back(std::string(row.order_unknown ? "unknown" : "known"));
	}
	return table;
}

report::Table text_table(const Answer &answer, By by)
{
	report::Table table;
	table.columns = {{"step", by == By::step ? "step" : "where", Unit::text, 0, "from where to where"},
			 {"requests", "requests", Unit::count, 1, "how many have it"}};
	add_time_columns(table.columns);
	table.columns.push_back(
	    {"share_percent", "share%", Unit::percent, 0, "of the time of all requests whose time is known"});
	table.columns.push_back({"bound", "bound", Unit::text, 4, "how far a time can be off, at most"});
	table.columns.push_back(
	    {"order_unknown", "order unknown", Unit::count, 5, "in how many the order of the two is not known"});
	for (const StepTotals &row : by == By::step ? answer.steps : answer.by_host) {
		std::vector<Cell> &cells = table.rows.emplace_back();
		cells.emplace_back(by == By::step ? point_text(answer, row.from) + " -> " + point_text(answer, row.to)
						  : hosts_text(answer, row));
		cells.emplace_back(row.requests);
		add_times(row, cells);
		cells.insert(cells.end(), {share_of(answer, row), row_bound(row), row.order_unknown});
	}
	return table;
}

} // namespace monitor::requests
