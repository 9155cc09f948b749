// SPDX-License-Identifier: MIT
#include "columns.h"

#include <algorithm>
#include <cmath>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monitor::top {
namespace {

std::optional<double> cell(const report::Table &table, const Row &row, const char *key)
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

std::optional<double> percent(const Refresh &refresh, const Row &row, const char *key)
{
	return cell(refresh.rows, row, key);
}

std::optional<double> share(const Refresh &refresh, const Row &row, const char *ns_key)
{
	const auto ns = cell(refresh.rows, row, ns_key);
	return ns && seconds_of(refresh) > 0 ? std::optional(*ns / 1e7 / seconds_of(refresh)) : std::nullopt;
}

std::optional<double> rate(const Refresh &refresh, const Row &row, const char *key, const char *other = nullptr)
{
	const auto count = cell(refresh.rows, row, key),
		   more = other ? cell(refresh.rows, row, other) : std::optional(0.0);
	return count && more && seconds_of(refresh) > 0 ? std::optional((*count + *more) / seconds_of(refresh))
							: std::nullopt;
}

std::optional<double> of_cpu(const Refresh &refresh, const Row &row)
{
	return cpu_percent(refresh.rows, row);
}

using Kind = FigureColumn::Kind;

constexpr FigureColumn columns[] = {
    {Kind::percent, "CPU%", 6, of_cpu},
    {Kind::change, "change", 6, of_cpu},
    {Kind::history, "history", 10, of_cpu},
    {Kind::percent, "user%", 6, [](const Refresh &of, const Row &row) { return percent(of, row, "user_percent"); }},
    {Kind::percent, "kern%", 6, [](const Refresh &of, const Row &row) { return percent(of, row, "kernel_percent"); }},
    {Kind::percent, "wait%", 6, [](const Refresh &of, const Row &row) { return share(of, row, "waiting_ns"); }},
    {Kind::percent, "sleep%", 7, [](const Refresh &of, const Row &row) { return share(of, row, "blocked_ns"); }},
    {Kind::rate, "sw/s", 6,
     [](const Refresh &of, const Row &row) { return rate(of, row, "voluntary", "involuntary"); }},
    {Kind::rate, "calls/s", 7, [](const Refresh &of, const Row &row) { return rate(of, row, "syscalls"); }},
    {Kind::rate, "flt/s", 6,
     [](const Refresh &of, const Row &row) { return rate(of, row, "minor_faults", "major_faults"); }},
    {Kind::rate, "migr/s", 6, [](const Refresh &of, const Row &row) { return rate(of, row, "migrations"); }},
    {Kind::percent, "irq%", 5, [](const Refresh &of, const Row &row) { return percent(of, row, "irq_percent"); }},
    {Kind::percent, "sirq%", 5, [](const Refresh &of, const Row &row) { return percent(of, row, "softirq_percent"); }},
    {Kind::percent, "unkn%", 5, [](const Refresh &of, const Row &row) { return percent(of, row, "unknown_percent"); }},
};

} // namespace

std::string FigureColumn::text(const std::optional<double> &of) const
{
	if (!of)
		return "-";
	return kind == Kind::rate ? short_count(*of) : fmt::format("{:.1f}", *of);
}

std::span<const FigureColumn> figure_columns()
{
	return columns;
}

// The first column says whether it was recorded as the command.
std::string name_of_row(const Row &row)
{
	const auto *name = row.size() > 1 ? std::get_if<std::string>(&row[1]) : nullptr;
	return name ? *name : std::string();
}

std::optional<std::uint64_t> number_of_row(const report::Table &table, const Row &row)
{
	const bool has_number =
	    table.columns.size() > 2 && (table.columns[2].key == "pid" || table.columns[2].key == "tid");
	const auto *number = has_number ? std::get_if<std::uint64_t>(&row[2]) : nullptr;
	return number ? std::optional(*number) : std::nullopt;
}

std::string key_of_row(const report::Table &table, const Row &row)
{
	return fmt::format("{} {}", number_of_row(table, row).value_or(0), name_of_row(row));
}

std::optional<double> cpu_percent(const report::Table &table, const Row &row)
{
	return cell(table, row, "cpu_percent");
}

std::string time_text(const Refresh &refresh)
{
	return fmt::format("{:%H:%M:%S}",
			   fmt::localtime(static_cast<std::time_t>(refresh.end_wall_ns / 1'000'000'000)));
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

std::string cost_text(const Refresh &refresh, double wall_ns)
{
	if (wall_ns <= 0)
		return "cost: unknown";
	const auto share = [&](double ns) { return ns / wall_ns * 100; };
	std::string text = fmt::format("cost: recorder {:.2f} %", share(static_cast<double>(refresh.recorder_ns)));
	const analyze::ProbeCost &probes = refresh.probes;
	if (!probes.low_ns)
		text += fmt::format(" of one CPU, probes unknown ({})", probes.why_unknown);
	else if (*probes.low_ns > 0)
		text += fmt::format(", probes {:.2f} to {:.2f} % of one CPU", share(*probes.low_ns),
				    share(*probes.high_ns));
	else
		text += fmt::format(", probes up to {:.2f} % of one CPU", share(*probes.high_ns));
	if (!refresh.other_recorders.empty())
		text += fmt::format(", without that of another recording (process {})",
				    fmt::join(refresh.other_recorders, ", "));
	return text;
}

} // namespace monitor::top
