// SPDX-License-Identifier: MIT
#include "columns.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/date_text.h"
#include "base/text_width.h"

namespace monitor::top {
namespace {

std::optional<double> cell(const report::Table &table, const RowCells &row, const char *key)
{
	const auto column = std::ranges::find(table.columns, key, &report::Column::key);
	if (column == table.columns.end())
		return {};
	return report::number_of(row[static_cast<std::size_t>(column - table.columns.begin())]);
}

double seconds_of(const Refresh &refresh)
{
	return static_cast<double>(refresh.end_ns - refresh.begin_ns) / 1e9;
}

using Value = std::function<std::optional<double>(const Refresh &, const RowCells &)>;

Value percent_of(const char *key)
{
	return [key](const Refresh &refresh, const RowCells &row) { return cell(refresh.rows, row, key); };
}

Value share_of(const char *ns_key)
{
	return [ns_key](const Refresh &refresh, const RowCells &row) -> std::optional<double> {
		const auto ns = cell(refresh.rows, row, ns_key);
		return ns && seconds_of(refresh) > 0 ? std::optional(*ns / 1e7 / seconds_of(refresh)) : std::nullopt;
	};
}

Value rate_of(const char *key, const char *other = nullptr)
{
	return [key, other](const Refresh &refresh, const RowCells &row) -> std::optional<double> {
		const auto count = cell(refresh.rows, row, key),
			   more = other ? cell(refresh.rows, row, other) : std::optional(0.0);
		return count && more && seconds_of(refresh) > 0 ? std::optional((*count + *more) / seconds_of(refresh))
								: std::nullopt;
	};
}

std::optional<double> cpu_figure(const Refresh &refresh, const RowCells &row)
{
	return cpu_percent(refresh.rows, row);
}

using ColumnKind = FigureColumn::Kind;

FigureColumn column_of(const Measure &measure)
{
	const bool is_percent = measure.unit == "%";
	const std::string title = measure.name + (is_percent ? "%" : ""), &key = measure.name;
	return {is_percent         ? ColumnKind::percent
		: measure.is_count ? ColumnKind::count
				   : ColumnKind::ratio,
		measure.name,
		title,
		std::max(6u, static_cast<unsigned>(text_width(title))),
		[key](const Refresh &refresh, const RowCells &row) { return cell(refresh.rows, row, key.c_str()); },
		[key](const Refresh &refresh, const RowCells &row) {
			const auto counting = cell(refresh.rows, row, (key + "_counting_percent").c_str());
			return counting && *counting < 100;
		}};
}

} // namespace

std::string FigureColumn::text(const Refresh &refresh, const RowCells &row) const
{
	const auto figure = value(refresh, row);
	if (!figure)
		return "-";
	const std::string mark = is_estimate && is_estimate(refresh, row) ? "~" : "";
	if (kind == ColumnKind::rate || kind == ColumnKind::count)
		return mark + short_count(*figure);
	return mark + fmt::format("{:.{}f}", *figure, kind == ColumnKind::ratio ? 2 : 1);
}

std::vector<FigureColumn> figure_columns(const std::vector<Measure> &measures, bool with_virtual)
{
	std::vector<FigureColumn> columns = {
	    {ColumnKind::percent, "cpu", "CPU%", 6, cpu_figure},
	    {ColumnKind::change, "", "change", 6, cpu_figure},
	    {ColumnKind::history, "", "history", 10, cpu_figure},
	    {ColumnKind::percent, "user", "user%", 6, percent_of("user_percent")},
	    {ColumnKind::percent, "kernel", "kern%", 6, percent_of("kernel_percent")},
	    {ColumnKind::percent, "wait", "wait%", 6, share_of("waiting_ns")},
	    {ColumnKind::percent, "sleep", "sleep%", 7, share_of("blocked_ns")},
	    {ColumnKind::rate, "switches", "sw/s", 6, rate_of("voluntary", "involuntary")},
	    {ColumnKind::rate, "calls", "calls/s", 7, rate_of("syscalls")},
	    {ColumnKind::rate, "faults", "flt/s", 6, rate_of("minor_faults", "major_faults")},
	    {ColumnKind::rate, "migrations", "migr/s", 6, rate_of("migrations")},
	    {ColumnKind::percent, "irq", "irq%", 5, percent_of("irq_percent")},
	    {ColumnKind::percent, "softirq", "sirq%", 5, percent_of("softirq_percent")},
	    {ColumnKind::percent, "unknown", "unkn%", 5, percent_of("unknown_percent")},
	    {ColumnKind::percent, "throttled", "thrt%", 6, share_of("throttled_ns")},
	};
	constexpr std::ptrdiff_t figures_before = 5; // more important than virtual times
	std::vector<FigureColumn> measured;
	if (with_virtual)
		measured = {{ColumnKind::percent, "virtual", "virt%", 6, share_of("virtual_cpu_ns")},
			    {ColumnKind::percent, "virtual_low", "vlow%", 6, share_of("virtual_cpu_low_ns")},
			    {ColumnKind::percent, "virtual_high", "vhigh%", 6, share_of("virtual_cpu_high_ns")},
			    {ColumnKind::percent, "virtual_wait", "vwait%", 6, share_of("virtual_waiting_ns")}};
	for (const Measure &measure : measures)
		measured.push_back(column_of(measure));
	columns.insert(columns.begin() + figures_before, measured.begin(), measured.end());
	return columns;
}

// The first column is the mark for the recorded command.
std::string name_of_row(const RowCells &row)
{
	const auto *name = row.size() > 1 ? std::get_if<std::string>(&row[1]) : nullptr;
	return name ? *name : std::string();
}

std::optional<std::uint64_t> number_of_row(const report::Table &table, const RowCells &row)
{
	const bool has_number =
	    table.columns.size() > 2 && (table.columns[2].key == "pid" || table.columns[2].key == "tid");
	const auto *number = has_number ? std::get_if<std::uint64_t>(&row[2]) : nullptr;
	return number ? std::optional(*number) : std::nullopt;
}

std::string key_of_row(const report::Table &table, const RowCells &row)
{
	return fmt::format("{} {}", number_of_row(table, row).value_or(0), name_of_row(row));
}

std::optional<double> cpu_percent(const report::Table &table, const RowCells &row)
{
	return cell(table, row, "cpu_percent");
}

std::string time_text(const Refresh &refresh)
{
	return local_date(refresh.end_wall_ns / 1'000'000'000, "%T");
}

std::string short_count(double count)
{
	constexpr const char *units[] = {"", "k", "M", "G", "T"};
	std::size_t unit = 0;
	for (; count >= 9999.5 && unit + 1 < std::size(units); ++unit)
		count /= 1000;
	const bool has_fraction = unit == 0 && count != 0 && count < 9.95;
	return fmt::format("{:.{}f}{}", count, has_fraction && count != std::floor(count) ? 1 : 0, units[unit]);
}

std::string rows_text(std::size_t count)
{
	return count == 1 ? "1 row" : fmt::format("{} rows", count);
}

std::string cost_text(const Refresh &refresh, double wall_ns)
{
	if (wall_ns <= 0)
		return "cost: unknown";
	const auto share = [&](double ns) { return ns / wall_ns * 100; };
	std::string text = fmt::format("cost: recorder {:.2f} %", share(static_cast<double>(refresh.recorder_ns)));
	const cost::ProbeCost &probes = refresh.probes;
	if (!probes.low_ns)
		text += fmt::format(" of one CPU, probes unknown ({})", probes.why_unknown);
	else if (probes.is_of_real_code)
		text += fmt::format(", probes {:.2f} to {:.2f} % of one CPU", share(*probes.low_ns),
				    share(*probes.high_ns));
	else
		text += fmt::format(", probes at least {:.2f} % of one CPU (loops)", share(*probes.low_ns));
	if (!refresh.other_recorders.empty())
		text += fmt::format(", without that of another recording (process {})",
				    fmt::join(refresh.other_recorders, ", "));
	return text;
}

std::string virtual_text(const Refresh &refresh)
{
	if (!refresh.virtual_times)
		return "";
	const live::VirtualFacts &facts = *refresh.virtual_times;
	if (!facts.is_known)
		return "virtual times: unknown, as events were lost, and what they cost with them";
	return fmt::format("virtual: as if nobody measured; range: {}; the machine itself {:.0f} %",
			   fmt::join(facts.reasons, "; "), facts.noise * 100);
}

} // namespace monitor::top
