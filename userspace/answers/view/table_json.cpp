// SPDX-License-Identifier: MIT
#include "table_json.h"

#include <iterator>
#include <map>

#include "answers/report/activities_table.h"
#include "answers/report/usage_report.h"
#include "answers/selection/thread_selection.h"
#include "reading/analyze/recorded.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_usage_rows = 4096;

const std::map<std::string, report::GroupBy> groupings = {{"process", report::GroupBy::process},
							  {"thread", report::GroupBy::thread},
							  {"command", report::GroupBy::command},
							  {"cgroup", report::GroupBy::cgroup}};

const char *unit_text(report::Unit unit)
{
	constexpr const char *texts[] = {"text",    "count",   "ratio", "ns",   "difference",
					 "instant", "percent", "flag",  "count"};
	static_assert(std::size(texts) == static_cast<std::size_t>(report::Unit::bytes) + 1);
	return texts[static_cast<std::size_t>(unit)];
}

// Totals of the threads that ran in the part, in ticks; null: not recorded.
Json threads_json(const analyze::ThreadFold &fold, const analyze::RecordingInfo &info)
{
	std::uint64_t ran = 0, waiting = 0, throttled = 0, blocked = 0;
	for (const analyze::Thread &thread : fold.threads()) {
		if (thread.tid == 0 || thread.usage.cpu() == 0)
			continue;
		ran += thread.usage.cpu();
		waiting += thread.usage.waiting;
		throttled += thread.usage.throttled;
		blocked += thread.usage.blocked;
	}
	if (!report::known_shares(info).waiting)
		return {{"ran", ran}, {"waiting", nullptr}, {"throttled", nullptr}, {"blocked", nullptr}};
	return {{"ran", ran},
		{"waiting", waiting},
		{"throttled", info.knows_throttled() ? Json(throttled) : Json()},
		{"blocked", blocked}};
}

report::UsageOptions options_of(const trace::Trace &trace, const analyze::RecordingInfo &info,
				const analyze::Recorded &recorded, const std::string &by)
{
	report::UsageOptions options;
	options.grouping.by = groupings.at(by);
	options.grouping.filtering = info.filtering();
	if (by == "cgroup")
		options.grouping.cgroup_paths = selection::cgroup_paths(trace.directory());
	options.recorded = recorded;
	options.with_sleepers = false;
	options.max_rows = max_usage_rows;
	return options;
}

} // namespace

Json table_json(const report::Table &table)
{
	Json columns = Json::array(), rows = Json::array();
	for (const report::Column &column : table.columns)
		columns.push_back({{"key", column.key}, {"title", column.title}, {"unit", unit_text(column.unit)}});
	for (const auto &row : table.rows) {
		Json cells = Json::array();
		for (const report::Cell &cell : row)
			std::visit(
			    [&](const auto &value) {
				    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
					    cells.push_back(nullptr);
				    else
					    cells.push_back(value);
			    },
			    cell);
		rows.push_back(std::move(cells));
	}
	return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

bool is_usage(const std::string &by)
{
	return groupings.contains(by) || by == "cpu";
}

Json usage_json(const analyze::ThreadFold &fold, const trace::Trace &trace, const analyze::RecordingInfo &info,
		const std::string &by)
{
	const trace::Clock &clock = trace.description().clock;
	const analyze::Recorded recorded = analyze::recorded(trace, info, fold.kinds());
	std::size_t left_out = 0;
	Json made = table_json(by == "cpu" ? report::cpu_table(fold, clock, info, recorded)
					   : report::without_left_out(report::usage_table(
						 fold, clock, options_of(trace, info, recorded, by), &left_out)));
	made["left_out"] = left_out;
	made["threads"] = threads_json(fold, info);
	return made;
}

} // namespace monitor::view
