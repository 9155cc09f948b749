// SPDX-License-Identifier: MIT
#include "report_counts.h"

#include <algorithm>

#include <fmt/format.h>

#include "answers/report/counts_table.h"
#include "answers/report/times_table.h"
#include "base/error.h"
#include "base/escape.h"
#include "terminal.h"

namespace monitor {
namespace {

// Sorts the tables that have the column; if none has, throws what the last one says.
void arrange(std::vector<report::Table> &tables, const ReportArguments &arguments)
{
	bool is_sorted = arguments.sort.empty();
	for (report::Table &table : tables) {
		try {
			if (!arguments.sort.empty())
				table.sort_by(table.column(arguments.sort));
			is_sorted = true;
		} catch (const Error &) {
			if (!is_sorted && &table == &tables.back())
				throw;
		}
		if (arguments.top)
			table.keep_top(arguments.top);
	}
}

// One table of all, by time; else one of counts and one of times.
std::vector<report::Table> tables_of(const ReportArguments &arguments, trace::Trace &trace,
				     const analyze::RecordingInfo &info)
{
	std::vector<report::Table> tables;
	if (arguments.by == "time") {
		tables.push_back(report::counts_by_time(trace, info));
		return tables;
	}
	if (!info.counts.empty())
		tables.push_back(arguments.by == "cpu" ? report::counts_by_cpu(info) : report::counts_table(info));
	if (!info.times.empty())
		tables.push_back(arguments.by == "cpu" ? report::times_by_cpu(trace, info)
						       : report::times_table(trace, info));
	return tables;
}

void print_json(const std::vector<report::Table> &tables, const ReportArguments &arguments, const trace::Trace &trace,
		const analyze::RecordingInfo &info)
{
	const bool is_plain = arguments.by.empty() || arguments.by == "count";
	const bool has_counts = !info.counts.empty() || arguments.by == "time";
	fmt::print("{{\"rows\": {}", has_counts ? report::to_json(tables.front()) : "[]");
	if (!info.times.empty() && is_plain)
		fmt::print(", \"times\": {}", report::times_json(trace, info));
	else if (!info.times.empty() && arguments.by == "cpu")
		fmt::print(", \"times\": {}", report::to_json(tables.back()));
	fmt::print(", \"counted_ns\": {}}}\n", info.counted_ns ? std::to_string(info.counted_ns) : "null");
}

// One of each table, and the distribution of each time.
std::vector<plot::Chart> charts_of(const ReportArguments &arguments, std::vector<report::Table> tables,
				   const trace::Trace &trace, const analyze::RecordingInfo &info)
{
	if (!arguments.plot.is_asked())
		return {};
	if (arguments.by != "time")
		arrange(tables, arguments);
	std::vector<plot::Chart> charts;
	for (const report::Table &table : tables) {
		const bool has_column = std::ranges::any_of(table.columns, [&](const report::Column &column) {
			return column.key == arguments.sort || column.title == arguments.sort;
		});
		charts.push_back(plot::chart_of(table, {"report counts", has_column ? arguments.sort : ""}));
	}
	if (arguments.by == "count")
		for (const report::Bins &bins : report::times_bins(trace, info))
			charts.push_back(plot::chart_of(bins, "report counts"));
	return charts;
}

[[noreturn]] void throw_damaged(const char *what, const std::string &name)
{
	throw Error(
	    fmt::format("the {} {} in .monitor/recording.json is damaged, so its numbers are unknown; `monitor check` "
			"lists what else is wrong",
			what, printable(name)));
}

} // namespace

void report_counts(const ReportArguments &arguments, trace::Trace &trace, const analyze::RecordingInfo &info)
{
	if (info.counts.empty() && info.times.empty())
		throw Error(!info.present ? "only a recording has counts: name one, not several that were merged"
			    : info.complete
				? "this recording counted nothing: record with --count NAME=EXPRESSION or --time "
				  "'NAME=START .. END per tid'"
				: "this recording was not completed, so its totals are unknown; the tables `count` and "
				  "`timed` of `monitor query` have what it recorded with --every");
	for (const analyze::EventCount &count : info.counts)
		if (count.is_damaged)
			throw_damaged("count", count.name);
	for (const analyze::EventTime &time : info.times)
		if (time.is_damaged)
			throw_damaged("time", time.name);
	if (!arguments.selection.is_all())
		throw Error("counts are those of the whole recording: leave out the selection");
	std::vector<report::Table> tables = tables_of(arguments, trace, info);
	const std::vector<plot::Chart> charts = charts_of(arguments, tables, trace, info);
	arrange(tables, arguments);
	if (!arguments.plot.file.empty())
		write_svg(charts, arguments.plot.file,
			  (info.times.empty() ? "" : report::times_notes(info)) + report::counted_text(info));
	if (arguments.json) {
		print_json(tables, arguments, trace, info);
		return;
	}
	if (arguments.plot.in_text)
		fmt::print("{}", plot_text(charts));
	for (std::size_t i = 0; i < tables.size() && !arguments.plot.in_text; ++i)
		fmt::print("{}{}", i ? "\n" : "",
			   arguments.csv ? report::to_csv(tables[i]) : report::to_text(tables[i], terminal_width()));
	if (arguments.csv)
		return;
	if (!info.times.empty())
		fmt::print("{}", report::times_notes(info));
	fmt::print("{}", report::counted_text(info));
}

} // namespace monitor
