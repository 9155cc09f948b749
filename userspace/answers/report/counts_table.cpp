// SPDX-License-Identifier: MIT
#include "counts_table.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"
#include "reading/events/field_ref.h"
#include "reading/events/merge.h"

namespace monitor::report {
namespace {

using analyze::RecordingInfo;

double seconds_of(const RecordingInfo &info)
{
	return static_cast<double>(info.counted_ns) / 1e9;
}

} // namespace

Table counts_table(const RecordingInfo &info)
{
	Table table;
	table.columns = {{"name", "count", Unit::text},
			 {"count", "events", Unit::count},
			 {"per_second", "per second", Unit::ratio},
			 {"expression", "expression", Unit::text}};
	for (const analyze::EventCount &count : info.counts) {
		const double seconds = seconds_of(info);
		const Cell rate = seconds > 0 ? Cell(static_cast<double>(count.count) / seconds) : Cell();
		table.rows.push_back({count.name, count.count, rate, count.expression});
	}
	return table;
}

Table counts_by_cpu(const RecordingInfo &info)
{
	Table table;
	table.columns = {{"cpu", "CPU", Unit::text}};
	std::size_t cpus = 0;
	bool any_of_programs = false;
	for (const analyze::EventCount &count : info.counts) {
		table.columns.push_back({count.name, printable(count.name), Unit::count});
		cpus = std::max(cpus, count.by_cpu.size());
		any_of_programs = any_of_programs || count.of_programs > 0;
	}
	for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
		auto &row = table.rows.emplace_back(1, std::to_string(cpu));
		for (const analyze::EventCount &count : info.counts)
			row.push_back(cpu < count.by_cpu.size() ? Cell(count.by_cpu[cpu]) : Cell());
	}
	if (!any_of_programs)
		return table;
	auto &row = table.rows.emplace_back(1, std::string("programs"));
	for (const analyze::EventCount &count : info.counts)
		row.push_back(count.of_programs);
	return table;
}

Table counts_by_time(trace::Trace &trace, const RecordingInfo &info)
{
	Table table;
	table.columns = {{"from_ns", "from", Unit::nanoseconds}, {"to_ns", "to", Unit::nanoseconds}};
	for (const analyze::EventCount &count : info.counts)
		table.columns.push_back({count.name, printable(count.name), Unit::count});
	const auto classes = trace.description().find("count");
	std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> totals; // by time and number
	if (classes.size() == 1) {
		const trace::FieldRef number(*classes[0], "count"), total(*classes[0], "total");
		trace::merge(
		    trace, {},
		    [&](const trace::Event &event) {
			    if (event.cls == classes[0])
				    totals[event.time][number.get(event)] = total.get(event);
		    },
		    [](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
	}
	if (totals.size() < 2)
		throw Error("this recording has no series of counts: record --count with --every TIME");
	const trace::Clock &clock = trace.description().clock;
	const std::uint64_t begin = trace.begin_time();
	std::uint64_t from = info.counted_since.value_or(begin);
	std::map<std::uint64_t, std::uint64_t> before;
	for (const auto &[time, of_time] : totals) {
		auto &row = table.rows.emplace_back();
		row.emplace_back(static_cast<double>(clock.to_ns(from - std::min(from, begin))));
		row.emplace_back(static_cast<double>(clock.to_ns(time - std::min(time, begin))));
		for (std::size_t i = 0; i < info.counts.size(); ++i) {
			const auto found = of_time.find(i);
			if (found == of_time.end()) {
				row.emplace_back();
				continue;
			}
			row.emplace_back(found->second - std::min(found->second, before[i]));
			before[i] = found->second;
		}
		from = time;
	}
	return table;
}

} // namespace monitor::report
