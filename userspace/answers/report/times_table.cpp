// SPDX-License-Identifier: MIT
#include "times_table.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/histogram.h"
#include "base/json.h"
#include "monitor/timing.h"

namespace monitor::report {
namespace {

using analyze::EventTime;
using analyze::RecordingInfo;

double ns_of(std::uint64_t ticks, const trace::Trace &trace)
{
	return static_cast<double>(trace.description().clock.to_ns(ticks));
}

double mean_ns(std::uint64_t number, std::uint64_t total, const trace::Trace &trace)
{
	const auto &clock = trace.description().clock;
	return static_cast<double>(total) / static_cast<double>(number) * 1e9 / static_cast<double>(clock.frequency_hz);
}

// The upper end of the bucket with the p-quantile.
std::uint64_t percentile(const EventTime &time, double p)
{
	const std::uint64_t rank = nearest_rank(p, time.number);
	std::uint64_t before = 0;
	for (const auto &[bucket, number] : time.buckets) {
		before += number;
		if (before >= rank)
			return std::clamp<std::uint64_t>(edc_timed_bucket_first(bucket + 1) - 1, time.shortest,
							 std::max(time.shortest, time.longest));
	}
	return time.longest;
}

} // namespace

Table times_table(const trace::Trace &trace, const RecordingInfo &info)
{
	Table table;
	table.columns = {{"name", "time", Unit::text, 0, "its name"},
			 {"number", "number", Unit::count, 0, "how many were measured"},
			 {"per_second", "per second", Unit::ratio, 7, "how many that is in a second"},
			 {"mean_ns", "mean", Unit::nanoseconds, 1, "of one"},
			 {"min_ns", "min", Unit::nanoseconds, 5, "the shortest one"},
			 {"p50_ns", "p50", Unit::nanoseconds, 3, "that half of them do not exceed"},
			 {"p90_ns", "p90", Unit::nanoseconds, 6, "that 90 % of them do not exceed"},
			 {"p99_ns", "p99", Unit::nanoseconds, 4, "that 99 % of them do not exceed"},
			 {"max_ns", "max", Unit::nanoseconds, 2, "the longest one"},
			 {"total_ns", "total", Unit::nanoseconds, 2, "their sum"}};
	const double seconds = static_cast<double>(info.counted.ns) / 1e9;
	for (const EventTime &time : info.times) {
		auto &row = table.rows.emplace_back();
		row = {time.name, time.number, seconds > 0 ? Cell(static_cast<double>(time.number) / seconds) : Cell()};
		if (time.number == 0) {
			row.resize(table.columns.size());
			continue;
		}
		row.emplace_back(mean_ns(time.number, time.total, trace));
		row.emplace_back(ns_of(time.shortest, trace));
		for (const double p : {0.5, 0.9, 0.99})
			row.emplace_back(ns_of(percentile(time, p), trace));
		row.emplace_back(ns_of(time.longest, trace));
		row.emplace_back(ns_of(time.total, trace));
	}
	return table;
}

Table times_by_cpu(const trace::Trace &trace, const RecordingInfo &info)
{
	Table table;
	table.columns = {{"cpu", "CPU", Unit::text, 0, "on which they ended"}};
	std::size_t cpus = 0;
	for (const EventTime &time : info.times) {
		table.columns.push_back({time.name, printable(time.name), Unit::count, 0, "how many were measured"});
		table.columns.push_back({time.name + "_mean_ns", "mean", Unit::nanoseconds, 1, "of one"});
		cpus = std::max(cpus, time.by_cpu.size());
	}
	for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
		auto &row = table.rows.emplace_back(1, std::to_string(cpu));
		for (const EventTime &time : info.times) {
			const analyze::EventTimeOfCpu of_cpu =
			    cpu < time.by_cpu.size() ? time.by_cpu[cpu] : analyze::EventTimeOfCpu();
			row.emplace_back(of_cpu.number);
			row.push_back(of_cpu.number ? Cell(mean_ns(of_cpu.number, of_cpu.total, trace)) : Cell());
		}
	}
	return table;
}

std::vector<Bins> times_bins(const trace::Trace &trace, const RecordingInfo &info)
{
	constexpr unsigned per_power = 8; // buckets, see edc_timed_bucket_first()
	const auto shown = [&](unsigned bucket) { return duration_text(ns_of(edc_timed_bucket_first(bucket), trace)); };
	std::vector<Bins> all;
	for (const EventTime &time : info.times) {
		Bins &made = all.emplace_back();
		made.row = printable(time.name);
		std::map<unsigned, std::uint64_t> powers;
		for (const auto &[bucket, number] : time.buckets)
			powers[bucket / per_power] += number;
		std::erase_if(powers, [](const auto &of_power) { return of_power.second == 0; });
		if (powers.empty())
			continue;
		for (unsigned power = powers.begin()->first; power <= powers.rbegin()->first; ++power)
			made.bins.push_back({shown(power * per_power), shown((power + 1) * per_power), powers[power]});
	}
	return all;
}

std::string times_notes(const RecordingInfo &info)
{
	std::string text;
	for (const EventTime &time : info.times) {
		text += fmt::format("{}: {}", printable(time.name), printable(analyze::text_of(time)));
		const auto add = [&](std::uint64_t number, const char *what) {
			if (number)
				text += fmt::format("; {} {}", count_text(number), what);
		};
		add(time.ends, "ends without a start");
		add(time.replaced, "starts followed by another one");
		add(analyze::open_of(time), "without an end when the recording ended");
		add(time.forgotten, "starts for which there was no room: their times are missing");
		text += '\n';
	}
	return text + "percentiles are at most 12.5 % too high\n";
}

std::string times_json(const trace::Trace &trace, const RecordingInfo &info)
{
	auto rows = nlohmann::ordered_json::parse(to_json(times_table(trace, info)));
	for (std::size_t i = 0; i < rows.size(); ++i) {
		const EventTime &time = info.times[i];
		rows[i]["start"] = time.start;
		rows[i]["end"] = time.end;
		rows[i]["start_key"] = time.start_key;
		rows[i]["end_key"] = time.end_key;
		rows[i]["ends_without_start"] = time.ends;
		rows[i]["starts_replaced"] = time.replaced;
		rows[i]["open"] = analyze::open_of(time);
		rows[i]["starts_without_room"] = time.forgotten;
		rows[i]["histogram"] = nlohmann::ordered_json::array();
		for (const auto &[bucket, number] : time.buckets)
			rows[i]["histogram"].push_back(
			    {{"from_ns", trace.description().clock.to_ns(edc_timed_bucket_first(bucket))},
			     {"below_ns", trace.description().clock.to_ns(edc_timed_bucket_first(bucket + 1))},
			     {"number", number}});
	}
	return json_dump(rows, 1);
}

} // namespace monitor::report
