// SPDX-License-Identifier: MIT
#include "activities_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "measurements_table.h"

namespace monitor::report {
namespace {

using analyze::UserActivityBy;

Cell share(bool is_known, std::uint64_t part, std::uint64_t whole)
{
	if (!is_known || whole == 0)
		return {};
	return static_cast<double>(part) / static_cast<double>(whole) * 100;
}

std::vector<Column> columns_by(UserActivityBy by)
{
	std::vector<Column> columns = {{"recorded", "", Unit::flag}, {"activity", "activity", Unit::text}};
	switch (by) {
	case UserActivityBy::process:
		columns.push_back({"process", "process", Unit::text});
		columns.push_back({"pid", "pid", Unit::count});
		break;
	case UserActivityBy::thread:
		columns.push_back({"thread", "thread", Unit::text});
		columns.push_back({"tid", "tid", Unit::count});
		break;
	case UserActivityBy::argument:
		columns.push_back({"argument", "argument", Unit::count});
		break;
	}
	columns.push_back({"count", "count", Unit::count});
	for (const auto &[key, title] :
	     {std::pair{"total_ns", "total"}, std::pair{"mean_ns", "mean"}, std::pair{"p50_ns", "p50"},
	      std::pair{"p99_ns", "p99"}, std::pair{"max_ns", "max"}, std::pair{"exclusive_ns", "exclusive"}})
		columns.push_back({key, title, Unit::nanoseconds});
	for (const auto &[key, title] :
	     {std::pair{"cpu_percent", "CPU%"}, std::pair{"runnable_percent", "runnable%"},
	      std::pair{"blocked_percent", "blocked%"}, std::pair{"unknown_percent", "unkn%"}})
		columns.push_back({key, title, Unit::percent});
	return columns;
}

} // namespace

KnownShares known_shares(const analyze::RecordingInfo &info)
{
	const bool switches = !info.present || info.has_program("sched_switch");
	return {switches, switches && (!info.present || info.has_program("sched_waking"))};
}

Table user_activities_table(const analyze::UserActivityFold &fold, const trace::Clock &clock, const KnownShares &known,
			    const analyze::CountersInfo *counters)
{
	Table table;
	table.columns = columns_by(fold.by());
	if (counters && counters->user_id)
		table.columns.push_back({"counted", "counted", Unit::text});
	if (counters)
		add_measurement_columns(*counters, table.columns);
	for (const analyze::UserActivityRow &activity : fold.rows()) {
		std::vector<Cell> row = {activity.in_tree, activity.activity};
		if (fold.by() != UserActivityBy::argument)
			row.insert(row.end(), {activity.name, activity.number});
		else
			row.push_back(activity.name.empty() ? Cell(activity.number) : Cell(activity.name));
		row.push_back(activity.count);
		for (const std::uint64_t ticks : {activity.total.ticks, activity.mean, activity.p50, activity.p99,
						  activity.max, activity.exclusive})
			row.push_back(clock.to_ns(ticks));
		const analyze::Span &total = activity.total;
		row.push_back(share(known.cpu, total.cpu, total.ticks));
		row.push_back(share(known.waiting, total.waiting, total.ticks));
		row.push_back(share(known.waiting, total.blocked, total.ticks));
		const std::uint64_t rest = known.waiting ? total.unknown() : total.ticks - total.cpu;
		row.push_back(share(known.cpu, rest, total.ticks));
		if (counters && counters->user_id)
			row.emplace_back(std::string(activity.at_boundaries ? "at boundaries" : "inside"));
		if (counters)
			add_measurements(*counters, activity.counted, clock, row);
		table.rows.push_back(std::move(row));
	}
	return table;
}

std::string how_counted_text(const analyze::CountersInfo &counters, const Table &table)
{
	const bool some_at_boundaries = std::ranges::any_of(table.rows, [](const auto &row) {
		return std::ranges::find(row, Cell(std::string("at boundaries"))) != row.end();
	});
	const std::string inside = "those between readings inside it; record with --every for more";
	if (counters.user_id == 0)
		return fmt::format("an activity's counts are {} (none at its boundaries: {})\n", inside,
				   counters.user_refused.empty() ? "not recorded" : counters.user_refused);
	if (!some_at_boundaries)
		return fmt::format("an activity's counts are {} (the programs could not open counters of their own)\n",
				   inside);
	return fmt::format(
	    "counted: `at boundaries`, by the program where the activity begins and ends ({}); or\n"
	    "`inside`, {}. counting%: share of the time, where not all have counters at their boundaries\n",
	    counters.sets.size() > 1 ? "the first set of counters; the others inside" : "exactly", inside);
}

std::string unpaired_text(const analyze::UserActivityFold &fold)
{
	const analyze::Unpaired &unpaired = fold.unpaired();
	std::string text;
	if (unpaired.begins || unpaired.ends)
		text = fmt::format("unpaired: {} begins without an end, {} ends without a begin; they are in no row\n",
				   count_text(unpaired.begins), count_text(unpaired.ends));
	if (fold.left_out())
		text += fmt::format("{} activities are in no row, as there would be more than {} rows\n",
				    count_text(fold.left_out()), count_text(analyze::UserActivityFold::max_groups));
	return text;
}

std::string unpaired_json(const analyze::UserActivityFold &fold)
{
	return fmt::format(R"({{"begins": {}, "ends": {}, "left_out": {}}})", fold.unpaired().begins,
			   fold.unpaired().ends, fold.left_out());
}

} // namespace monitor::report
