// SPDX-License-Identifier: MIT
#include "idle_table.h"

#include <algorithm>
#include <cmath>

namespace monitor::report {
namespace {

Cell share_cell(std::uint64_t part, std::uint64_t whole)
{
	return whole ? Cell(100 * static_cast<double>(part) / static_cast<double>(whole)) : Cell();
}

// A CPU's idle time, from the switches.
struct TimeShare {
	std::uint64_t idle = 0, unknown = 0, window = 0; // ticks

	// Whether the share may be in the interval, whatever the unknown time was.
	bool may_be_in(const ShareInterval &interval) const
	{
		const auto of_window = [&](std::uint64_t ticks) {
			return static_cast<double>(ticks) / static_cast<double>(window);
		};
		return of_window(idle + unknown) >= interval.low && of_window(idle) <= interval.high;
	}
};

} // namespace

ShareInterval share_interval(std::uint64_t hits, std::uint64_t samples, std::uint64_t missing)
{
	if (missing)
		return {share_interval(hits, samples + missing, 0).low,
			share_interval(hits + missing, samples + missing, 0).high};
	constexpr double z = 1.959964; // 95 % of a normal distribution are within this many standard deviations
	if (samples == 0)
		return {};
	const auto n = static_cast<double>(samples);
	const double share = static_cast<double>(hits) / n, weight = z * z / n;
	const double middle = (share + weight / 2) / (1 + weight);
	const double half = z * std::sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight);
	return {hits ? middle - half : 0, hits < samples ? middle + half : 1};
}

Table idle_table(const analyze::SampleFold &fold, const analyze::ThreadFold &thread_fold)
{
	Table table;
	table.columns = {
	    {"cpu", "CPU", Unit::count, 0, "its number"},
	    {"samples", "samples", Unit::count, 2, "of it"},
	    {"missing", "missing", Unit::count, 3, "samples that it should have had"},
	    {"idle_samples", "idle", Unit::count, 4, "samples that found it idle"},
	    {"sampled_idle_percent", "sampled%", Unit::percent, 0, "share of its samples that found it idle"},
	    {"low_percent", "low%", Unit::percent, 1, "the least that this can be, with 95 %"},
	    {"high_percent", "high%", Unit::percent, 1, "the most that this can be, with 95 %"},
	    {"time_idle_percent", "time%", Unit::percent, 0, "share of the time in which it was idle, by the switches"},
	    {"unknown_percent", "unkn%", Unit::percent, 5, "share of the time in which that is not known"},
	    {"agrees", "agrees", Unit::text, 0, "whether the share by time is in the interval"}};
	table.figure = {"sampled_idle_percent", ""};
	const bool has_times = thread_fold.kinds().has(analyze::EventMeaning::sched_switch);
	const std::uint64_t window =
	    thread_fold.window_end() - std::min(thread_fold.window_begin(), thread_fold.window_end());
	for (const analyze::Cpu &cpu : thread_fold.cpus()) {
		if (!cpu.selected)
			continue;
		const analyze::SampledCpu *sampled = fold.cpu(cpu.number);
		std::vector<Cell> row(table.columns.size());
		row[0] = std::uint64_t(cpu.number);
		row[1] = sampled ? sampled->samples : 0;
		ShareInterval interval;
		if (sampled) {
			const std::uint64_t missing = fold.missing(*sampled);
			interval = share_interval(sampled->idle, sampled->samples, missing);
			row[2] = missing;
			row[3] = sampled->idle;
			row[4] = share_cell(sampled->idle, sampled->samples);
			row[5] = 100 * interval.low;
			row[6] = 100 * interval.high;
		}
		const TimeShare time = {thread_fold.idle_ticks(cpu), cpu.runner_unknown, window};
		if (has_times && window) {
			row[7] = share_cell(time.idle, window - std::min(time.unknown, window));
			row[8] = share_cell(time.unknown, window);
			if (sampled)
				row[9] = std::string(time.may_be_in(interval) ? "yes" : "no");
		}
		table.rows.push_back(std::move(row));
	}
	return table;
}

std::string idle_text()
{
	return "low% and high%: the 95 % interval of sampled%, binomial, as if no sample depended on another; missing "
	       "samples may be either\ntime%: from the switches, of the time that is known\n";
}

} // namespace monitor::report
