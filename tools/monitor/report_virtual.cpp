// SPDX-License-Identifier: MIT
#include "report_virtual.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/report/summary.h"
#include "answers/report/virtual_table.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "commands.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/fold.h"
#include "reading/cost/virtual_times.h"
#include "terminal.h"

namespace monitor {
namespace {

void print_text(const report::VirtualReport &report, const report::Table &table, std::size_t hidden,
		const cost::VirtualCost &cost, const analyze::RecordingInfo &info, const report::Summary &summary)
{
	if (!info.command.empty())
		fmt::print("command: {} (its processes are marked *), ", printable(info.short_command()));
	fmt::print("{} recorded on {}\n{}\n{}{}\n{}{}\n", report::duration_text(summary.wall_ns),
		   info.host.empty() ? "?" : printable(info.host), report::virtual_command_text(report),
		   report::to_text(report::with_ranges(table), terminal_width()), report::more_rows_text(hidden),
		   report::virtual_notes(report, cost, info), report::summary_text(summary));
}

} // namespace

void report_virtual(const ReportArguments &arguments, trace::Trace &trace, const analyze::RecordingInfo &info,
		    const report::GroupingOptions &grouping)
{
	const trace::Clock &clock = trace.description().clock;
	const cost::VirtualCost cost = cost::virtual_cost(info, clock);
	if (!cost.why_not.empty())
		throw Error("--virtual: " + cost.why_not);
	analyze::Machine machine(trace, info, arguments.selection.scope(trace, info));
	cost::VirtualTimes times(machine, info, cost);
	machine.add(times);
	analyze::ClockBound bound(trace.description(), info);
	const trace::Losses losses = analyze::fold(trace, machine, [&](const trace::Event &event) {
		times.event(event);
		if (event.stream->is_recorder())
			bound.event(event);
	});
	const report::Summary summary = report::summarize(trace, info, bound, machine, losses);
	const bool only_phases = losses.all_counted && losses.lost == info.phase_marks();
	if (summary.missing || !trace.problems().empty() || !only_phases)
		throw Error(
		    "--virtual: parts of this trace are missing or damaged, and what their events cost with them; "
		    "`monitor check` says which");
	report::UsageOptions options;
	options.grouping = grouping;
	options.recorded = analyze::recorded(trace, info, machine.kinds());
	const bool is_text = !arguments.json && !arguments.csv;
	options.with_sleepers = !is_text || !arguments.sort.empty() || arguments.top != 0;
	const report::VirtualReport report(machine, times, cost, clock, options);
	report::Table table = report.table();
	if (!arguments.sort.empty())
		table.sort_by(table.column(arguments.sort));
	const std::size_t keep = arguments.top ? arguments.top : is_text ? rows_in_text : table.rows.size();
	const std::size_t hidden = table.rows.size() - std::min(table.rows.size(), keep);
	table.keep_top(keep);
	if (arguments.json)
		fmt::print("{{\"rows\": {},\n\"virtual\": {},\n\"summary\": {}}}\n", report::to_json(table),
			   json_dump(report::virtual_json(report, cost)), report::summary_json(summary));
	else if (arguments.csv)
		fmt::print("{}", report::to_csv(table));
	else
		print_text(report, table, hidden, cost, info, summary);
}

} // namespace monitor
