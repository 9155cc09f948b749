// SPDX-License-Identifier: MIT
#include "segments_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "measurements_table.h"
#include "monitor/card.h"

namespace monitor::report {
namespace {

using analyze::SegmentBy;

std::vector<Column> columns_by(SegmentBy by)
{
	std::vector<Column> columns = {recorded_column(),
				       {"from", "from", Unit::text, 0, "the event that starts the segments"},
				       {"to", "to", Unit::text, 0, "the event that ends them"}};
	if (by == SegmentBy::cpu) {
		columns.push_back({"cpu", "CPU", Unit::count, 0, "its number"});
	} else {
		const auto [whose, number] =
		    by == SegmentBy::thread ? std::pair("thread", "tid") : std::pair("process", "pid");
		columns.push_back({whose, whose, Unit::text, 0, "whose they are"});
		columns.push_back({number, number, Unit::count, 4, "its number"});
	}
	columns.push_back({"count", "count", Unit::count, 1, "how many"});
	columns.push_back({"total_ns", "total", Unit::nanoseconds, 0, "time from the one event to the other"});
	std::ranges::move(duration_columns(), std::back_inserter(columns));
	return columns;
}

} // namespace

Table segments_table(const analyze::SegmentFold &fold, const analyze::CountersInfo &info, const trace::Clock &clock)
{
	Table table;
	table.columns = columns_by(fold.by());
	table.figure = {"total_ns", ""};
	add_measurement_columns(info, table.columns);
	for (const analyze::SegmentRow &segment : fold.rows()) {
		std::vector<Cell> row = {segment.in_tree, segment.from, segment.to};
		if (fold.by() != SegmentBy::cpu)
			row.emplace_back(segment.name);
		row.insert(row.end(), {segment.number, segment.count});
		for (const std::uint64_t ticks : {segment.total, segment.mean, segment.p50, segment.p99, segment.max})
			row.push_back(clock.to_ns(ticks));
		add_measurements(info, segment.counted, clock, row);
		table.rows.push_back(std::move(row));
	}
	return table;
}

std::string segments_text(const analyze::SegmentFold &fold, const analyze::RecordingInfo &info)
{
	if (fold.resets() == 0)
		return "nothing reset the counters\n";
	std::string text;
	const auto add = [&text](std::uint64_t number, const char *what) {
		if (number)
			text += fmt::format("{} {}\n", count_text(number), what);
	};
	add(fold.rows().empty() ? fold.resets() : 0, "resets, but no two in succession: use --by cpu to show what was "
						     "counted between those of different threads");
	add(fold.interrupted(), "segments are in no row, because events were lost within them");
	add(fold.unknown(), "resets are in no row, because it is unknown who ran");
	for (const analyze::ClassCounts &counts : info.classes)
		if (counts.id == EDC_ID_COUNTERS_RESET)
			add(counts.too_deep, "resets were lost where their threads were preempted in the probe: each "
					     "merged two segments into one");
	return text;
}

} // namespace monitor::report
