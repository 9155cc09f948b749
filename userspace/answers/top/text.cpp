// SPDX-License-Identifier: MIT
#include "text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/report/measurements_table.h"
#include "answers/report/virtual_table.h"
#include "base/json.h"
#include "columns.h"
#include "stacks_shown.h"

namespace monitor::top {
namespace {

using Json = nlohmann::ordered_json;

Json if_recorded(bool is_recorded, std::uint64_t value)
{
	return is_recorded ? Json(value) : Json(nullptr);
}

std::string details_text(const Refresh &refresh, std::size_t max_rows, std::size_t max_width)
{
	std::string text;
	const auto add = [&](const report::Table &table, const char *title) {
		report::Table top = table;
		if (max_rows)
			top.keep_top(max_rows);
		text +=
		    fmt::format("{} of process {}{}\n", title, refresh.followed, table.rows.empty() ? ": none" : "");
		if (!table.rows.empty())
			text += report::to_text(top, max_width);
		if (table.rows.size() > top.rows.size())
			text += report::more_rows_text(table.rows.size() - top.rows.size());
	};
	add(refresh.calls, "calls");
	add(refresh.sleeps, "sleeps");
	if (refresh.activities)
		add(*refresh.activities, "activities");
	if (!refresh.stacks)
		return text;
	for (const NamedWindow::StackTotals &kind : refresh.stacks->kinds)
		add(stacks_table(kind), stacks_title(kind).c_str());
	if (const std::string note = stacks_note(*refresh.stacks); !note.empty())
		text += note + "\n";
	return text;
}

Json virtual_json(const Refresh &refresh)
{
	if (!refresh.virtual_times)
		return nullptr;
	const live::VirtualFacts &facts = *refresh.virtual_times;
	const auto percent = [&](double part) { return facts.is_known ? Json(part * 100) : Json(nullptr); };
	return {{"known", facts.is_known},
		{"range", facts.reasons},
		{"noise_percent", percent(facts.noise)},
		{"others_percent", percent(facts.others)}};
}

Json details_json(const Refresh &refresh)
{
	if (!refresh.followed)
		return nullptr;
	const Json details = {
	    {"pid", refresh.followed},
	    {"calls", report::rows_json(refresh.calls)},
	    {"sleeps", report::rows_json(refresh.sleeps)},
	    {"activities", refresh.activities ? report::rows_json(*refresh.activities) : Json(nullptr)},
	    {"stacks", refresh.stacks ? stacks_json(*refresh.stacks) : Json(nullptr)}};
	return details;
}

} // namespace

std::string refresh_text(const Refresh &refresh, const Status &status, std::size_t max_rows, std::size_t max_width,
			 const RowFilter *filter)
{
	const double wall_ns = static_cast<double>(refresh.end_ns - refresh.begin_ns), seconds = wall_ns / 1e9;
	const MachineTotals &totals = refresh.totals;
	const double all = static_cast<double>(totals.usage.cpu() + totals.idle);
	const auto rate = [&](bool is_recorded, std::uint64_t count) {
		return is_recorded && seconds > 0 ? short_count(static_cast<double>(count) / seconds) : "-";
	};
	std::string text =
	    fmt::format("{}, {:.1f} s: CPUs {:.1f} % busy; a second: {} switches, {} calls, {} faults; {} threads: {} "
			"run, {} wait for a CPU{}\n",
			time_text(refresh), seconds, all > 0 ? static_cast<double>(totals.usage.cpu()) / all * 100 : 0,
			rate(true, totals.switches), rate(refresh.recorded.calls, totals.calls),
			rate(refresh.recorded.faults, totals.faults), totals.threads, totals.running, totals.ready,
			totals.throttled ? fmt::format(", {} throttled", totals.throttled) : "");
	report::Table rows = filter ? filter->rows(refresh) : refresh.rows;
	const std::size_t hidden = refresh.rows.rows.size() - rows.rows.size();
	const std::size_t count = rows.rows.size();
	if (max_rows)
		rows.keep_top(max_rows);
	text += report::to_text(report::with_ranges(report::without_exact(rows)), max_width);
	if (count > rows.rows.size())
		text += report::more_rows_text(count - rows.rows.size());
	if (filter)
		text += fmt::format("... {} hidden by the filter\n", rows_text(hidden));
	if (refresh.followed)
		text += details_text(refresh, max_rows, max_width);
	if (refresh.counters)
		text += report::provenance_text(*refresh.counters, refresh.rows);
	if (const std::string about = virtual_text(refresh); !about.empty())
		text += about + "\n";
	text += fmt::format("{}; lost {}{}\n", cost_text(refresh, wall_ns), status.lost,
			    refresh.has_losses ? ": counts are lower bounds, some time is unknown" : "");
	return text;
}

std::string refresh_json(const Refresh &refresh, const Status &status, const RowFilter *filter)
{
	const report::Table rows = filter ? filter->rows(refresh) : refresh.rows;
	const MachineTotals &totals = refresh.totals;
	const Json line = {{"number", refresh.number},
			   {"begin_ns", refresh.begin_ns},
			   {"end_ns", refresh.end_ns},
			   {"begin_ticks", refresh.begin_ticks},
			   {"end_ticks", refresh.end_ticks},
			   {"end_unix_ns", refresh.end_wall_ns},
			   {"whole", !refresh.has_losses},
			   {"lost", status.lost},
			   {"late", refresh.late},
			   {"machine",
			    {{"switches", totals.switches},
			     {"wakings", if_recorded(refresh.recorded.wakings, totals.wakings)},
			     {"syscalls", if_recorded(refresh.recorded.calls, totals.calls)},
			     {"faults", if_recorded(refresh.recorded.faults, totals.faults)},
			     {"interrupts", if_recorded(refresh.recorded.interrupts, totals.interrupts)},
			     {"events", totals.events},
			     {"threads", totals.threads},
			     {"running", totals.running},
			     {"ready", totals.ready},
			     {"throttled", if_recorded(refresh.recorded.throttled, totals.throttled)},
			     {"blocked", totals.blocked},
			     {"unknown", totals.unknown}}},
			   {"cpus", report::rows_json(refresh.cpus)},
			   {"rows", report::rows_json(rows)},
			   {"hidden_rows", refresh.rows.rows.size() - rows.rows.size()},
			   {"ratios", refresh.counters ? report::rows_json(refresh.ratios) : Json(nullptr)},
			   {"virtual", virtual_json(refresh)},
			   {"details", details_json(refresh)},
			   {"other_recorders", refresh.other_recorders},
			   {"cost",
			    {{"recorder_ns", refresh.recorder_ns},
			     {"probes_ns_low", or_null(refresh.probes.low_ns)},
			     {"probes_ns_high", or_null(refresh.probes.high_ns)}}}};
	return json_dump(line);
}

} // namespace monitor::top
