// SPDX-License-Identifier: MIT
#include "clock.h"

#include <algorithm>

namespace monitor::check {
namespace {

// The recorder takes ten clock snapshots a second. A second without one is not an error of the clock, but leaves it
// unproven.
constexpr std::uint64_t witnessed_ns = 1'000'000'000;
// Below the latency of a wake-up between CPUs, so that cause and effect can be told apart. A quiet machine has 1 us.
constexpr std::uint64_t largest_bound_ns = 10'000;
// After a gap in its snapshots the recorder corrects the clock within this time.
constexpr std::uint64_t recovery_ns = 1'000'000'000;
constexpr std::size_t gaps_shown = 5;

double seconds_of(const trace::Clock &clock, std::uint64_t ticks)
{
	return static_cast<double>(clock.to_ns(ticks)) / 1e9;
}

double seconds_since(std::uint64_t begin, const trace::Clock &clock, std::uint64_t time)
{
	return static_cast<double>(clock.since_ns(begin, time)) / 1e9;
}

// `unmeasured_skew`: the part of each bound, in ticks, that is due to the CPUs' skew where that could not be measured
// closely enough.
void judge_bound(const ClockBound &bound, const trace::Clock &clock, std::uint64_t unmeasured_skew, std::uint64_t begin,
		 Statements &statements)
{
	std::uint64_t witnessed = 0, wide = 0;
	const ClockInterval *first_wide = nullptr;
	std::vector<ClockInterval> gaps;
	for (const ClockInterval &interval : bound.intervals()) {
		if (clock.to_ns(interval.to - interval.from) > witnessed_ns) {
			gaps.push_back(interval);
			continue;
		}
		const bool is_wide = clock.to_ns(interval.bound - unmeasured_skew) > largest_bound_ns;
		if (is_wide && !gaps.empty() && clock.to_ns(interval.from - gaps.back().to) < recovery_ns) {
			gaps.back().bound = std::max(gaps.back().bound, interval.bound);
			continue;
		}
		++witnessed;
		if (is_wide && wide++ == 0)
			first_wide = &interval;
	}
	const std::string text = fmt::format(
	    "{} sync events; clock bound at most {} ns, {} ns for 99.9 % of {} intervals, the longest {:.0f} ms",
	    bound.syncs(), clock.to_ns(bound.largest()), clock.to_ns(bound.quantile(0.999)), bound.intervals().size(),
	    seconds_of(clock, bound.max_interval_ticks()) * 1e3);
	if (wide)
		statements.add("clock", Verdict::fails,
			       "{}; it is above {} ns in {} intervals of at most 1 s, first at {:.3f} s with {} ns",
			       text, largest_bound_ns, wide, seconds_since(begin, clock, first_wide->from),
			       clock.to_ns(first_wide->bound));
	else if (unmeasured_skew)
		statements.add("clock", Verdict::not_witnessed,
			       "{}; {} ns of it because the CPUs' clocks could not be compared more closely", text,
			       clock.to_ns(unmeasured_skew));
	else
		statements.add("clock", witnessed ? Verdict::holds : Verdict::not_witnessed, text);
	for (std::size_t i = 0; i < std::min(gaps.size(), gaps_shown); ++i)
		statements.add("clock_gap", Verdict::not_witnessed,
			       "the clock is not witnessed for {:.3f} s, from {:.3f} s on, because the recorder did "
			       "not run: its bound there is {} ns",
			       seconds_of(clock, gaps[i].to - gaps[i].from), seconds_since(begin, clock, gaps[i].from),
			       clock.to_ns(gaps[i].bound));
	if (gaps.size() > gaps_shown)
		statements.add("clock_gap", Verdict::not_witnessed, "and {} more such times", gaps.size() - gaps_shown);
}

void judge_sets(const ClockBound &bound, Statements &statements)
{
	const ClockSteps &steps = bound.steps();
	if (!steps.sets)
		return;
	const bool holds = !steps.steps && !steps.missing;
	statements.add("clock_sets", holds ? Verdict::holds : Verdict::fails,
		       holds ? fmt::format("{} clock sets: each starts on the line of the one before it", steps.sets)
			     : fmt::format("of {} clock sets {} do not start on the line of the one before it, up to "
					   "{} ticks off it, and {} are missing",
					   steps.sets, steps.steps, steps.largest, steps.missing));
}

void judge_skew(const trace::Clock &clock, const RecordingInfo &info, Statements &statements)
{
	const ClockSkew skew = info.skew();
	if (clock.name != "tsc" && !(skew.cpus_online && skew.cpus_compared))
		return;
	if (!skew.cpus_online)
		statements.add("clock_skew", Verdict::not_witnessed,
			       "how far apart the CPUs' clocks are was not measured: the bound does not include it");
	else if (skew.not_compared)
		statements.add("clock_skew", Verdict::not_checked,
			       "the clocks of {} CPUs were not compared with the others', because the recorder's "
			       "cpuset excludes them: the bound does not include them",
			       skew.not_compared);
	else if (skew.cpus_compared && !skew.uncertainty)
		statements.add("clock_skew", Verdict::fails,
			       "the CPUs' clocks are said to have been compared in no time: they were not");
	else
		statements.add("clock_skew", Verdict::holds, "the clocks of {} CPUs are at most {} ns apart",
			       skew.cpus_online, clock.to_ns(skew.ticks));
}

// Combines the sync events and the recording's own description, which a killed recording lacks.
void judge_real_time_steps(const ClockBound &bound, const trace::Clock &clock, std::uint64_t begin,
			   Statements &statements)
{
	const std::vector<trace::RealTimeStep> &steps = bound.real_time_steps();
	if (steps.empty())
		return;
	const bool is_known = clock.steps.size() >= steps.size();
	statements.add("real_time", is_known ? Verdict::holds : Verdict::not_witnessed, "{}: times of day {}",
		       real_time_text(steps, clock, begin),
		       is_known ? "before and after are those that it showed" : "are true on one side of that only");
}

} // namespace

std::string real_time_text(const std::vector<trace::RealTimeStep> &steps, const trace::Clock &clock,
			   std::uint64_t begin)
{
	std::string text = "the system's clock was set";
	for (std::size_t i = 0; i < std::min(steps.size(), gaps_shown); ++i)
		text += fmt::format("{} by {:+.3f} s at {:.1f} s", i ? "," : "", static_cast<double>(steps[i].ns) / 1e9,
				    seconds_since(begin, clock, steps[i].time));
	if (steps.size() > gaps_shown)
		text += fmt::format(", and {} times more", steps.size() - gaps_shown);
	return text;
}

void judge_clock(const ClockBound &bound, const trace::Clock &clock, const RecordingInfo &info, std::uint64_t begin,
		 Statements &statements)
{
	if (bound.intervals().empty())
		statements.add("clock", Verdict::fails,
			       "there are fewer than two sync events: the clock cannot be checked");
	else
		judge_bound(bound, clock,
			    clock.to_ns(info.skew().min_uncertainty) > largest_bound_ns ? info.skew().ticks : 0, begin,
			    statements);
	judge_sets(bound, statements);
	judge_skew(clock, info, statements);
	judge_real_time_steps(bound, clock, begin, statements);
}

} // namespace monitor::check
