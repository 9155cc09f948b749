// SPDX-License-Identifier: MIT
#include "recording_info.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.h"
#include "monitor/timing.h"
#include "reading/events/fetched_packets.h"

namespace monitor::analyze {
namespace {

// The other half of a pair of classes, entry or exit; else the name itself.
std::string other_of_pair(const std::string &name)
{
	constexpr std::pair<std::string_view, std::string_view> ends[] = {
	    {"_enter", "_exit"}, {"_entry", "_exit"}, {"_begin", "_end"}};
	if (name == "sys_exit")
		return "sys_enter";
	for (const auto &[first, last] : ends)
		for (const auto &[mine, other] : {std::pair(first, last), std::pair(last, first)})
			if (name.ends_with(mine) && !(mine == "_exit" && other == "_enter"))
				return name.substr(0, name.size() - mine.size()) + std::string(other);
	return name;
}

// Whether a pair's own figures are consistent.
bool is_consistent(const EventTime &time)
{
	std::uint64_t in_buckets = 0, on_cpus = 0, total = 0;
	for (const auto &[bucket, number] : time.buckets)
		in_buckets += number;
	for (const EventTimeOfCpu &cpu : time.by_cpu) {
		on_cpus += cpu.number;
		total += cpu.total;
	}
	return in_buckets == time.number && on_cpus == time.number && total == time.total &&
	       time.shortest <= time.longest && (time.number || !time.total);
}

// Removes costs of an event of more than a second, which none has.
void remove_impossible_costs(RecordingInfo &info)
{
	const auto is_impossible = [](double ns) { return !(std::abs(ns) <= max_cost_of_event_ns); };
	const auto remove_from = [&](CalibratedCosts &costs) {
		return std::erase_if(costs, [&](const auto &entry) {
			const CalibratedCost &cost = entry.second;
			return is_impossible(cost.low) || is_impossible(cost.median) || is_impossible(cost.high);
		});
	};
	std::size_t removed = std::erase_if(info.cost_ns, [&](const auto &cost) { return is_impossible(cost.second); });
	if (info.calibration) {
		removed += remove_from(info.calibration->start);
		if (info.calibration->end)
			removed += remove_from(*info.calibration->end);
	}
	info.had_impossible_costs = removed != 0;
}

// What is inconsistent with other members is damaged, too.
void mark_damaged(RecordingInfo &info)
{
	remove_impossible_costs(info);
	for (EventCount &count : info.counts)
		count.is_damaged |=
		    std::accumulate(count.by_cpu.begin(), count.by_cpu.end(), count.of_programs) != count.count;
	for (EventTime &time : info.times) {
		std::erase_if(time.buckets, [](const auto &bucket) { return bucket.first >= EDC_TIMED_BUCKETS; });
		time.is_damaged |= !is_consistent(time);
	}
	if (!info.calibration || !info.calibration->phases)
		return;
	PhaseCost &cost = *info.calibration->phases;
	const bool is_sound =
	    cost.low > 0 && cost.low <= cost.median && cost.median <= cost.high && cost.high <= max_cost_of_event_ns;
	if (cost.is_known() && !is_sound)
		cost.why_unknown = "recording.json does not say what was measured";
}

std::set<std::string> partial_classes(const Contents &recorded)
{
	std::set<std::string> partial;
	if (!recorded.has_tokens)
		partial.insert(recorded.programs.begin(), recorded.programs.end());
	for (const auto *names : {&recorded.filter.part, &recorded.filter.none})
		for (const std::string &name : *names)
			partial.insert({name, other_of_pair(name)});
	return partial;
}

// An invariant TSC has constant skew: of two consistent measurements the tighter one holds, else the larger.
std::uint64_t worst_skew(const TscSkew &start, const TscSkew &end)
{
	const std::uint64_t first = start.ticks + start.uncertainty, second = end.ticks + end.uncertainty;
	if (!start.cpus_compared || !end.cpus_compared)
		return start.cpus_compared ? first : second;
	const std::uint64_t apart = start.ticks > end.ticks ? start.ticks - end.ticks : end.ticks - start.ticks;
	return apart <= start.uncertainty + end.uncertainty ? std::min(first, second) : std::max(first, second);
}

} // namespace

bool has_contradictory_ends(const trace::Trace &trace, const RecordingInfo &info)
{
	if (!info.complete() || info.statistics || trace.end_time() == 0)
		return false;
	const std::uint64_t start = info.start_time().value_or(trace.begin_time()),
			    end = info.end.time.value_or(trace.end_time());
	// The recorder's own tokens are from before the start until the end.
	const bool is_elsewhere = start > trace.end_time() || end < trace.first_time();
	return end < start || (is_elsewhere && trace::fetched_parts(trace).empty());
}

trace::TimeRange window_of(const trace::Trace &trace, const RecordingInfo &info)
{
	if (info.statistics) // earlier ones may have been removed
		return {trace.begin_time(), trace.end_time()};
	if (has_contradictory_ends(trace, info)) // begin_time() may be the start that is not believed
		return {trace.first_time(), trace.end_time()};
	return {info.start_time().value_or(trace.begin_time()),
		info.complete() ? info.end.time.value_or(trace.end_time()) : trace.end_time()};
}

// As clocks drift, a given time of day is not exactly the start of a period: an overlap of up to 1 % of one is ignored.
trace::TimeRange whole_periods(const trace::Trace &trace, const RecordingInfo &info, trace::TimeRange range)
{
	if (!info.statistics)
		return range;
	std::optional<trace::TimeRange> overlapped, clearly_overlapped;
	const auto add = [](std::optional<trace::TimeRange> &to, std::uint64_t begin, std::uint64_t end) {
		to = to ? trace::TimeRange{std::min(to->from, begin), std::max(to->to, end - 1)}
			: trace::TimeRange{begin, end - 1};
	};
	for (const auto &stream : trace.streams()) {
		const std::uint64_t begin = stream->begin_time(), end = stream->end_time();
		const std::uint64_t first = std::max(begin, range.from), last = std::min(end - 1, range.to);
		if (stream->is_foreign() || end <= begin || first > last)
			continue;
		add(overlapped, begin, end);
		if (last - first > (end - begin) / 100)
			add(clearly_overlapped, begin, end);
	}
	return clearly_overlapped ? *clearly_overlapped : overlapped.value_or(range);
}

std::string text_of(const EventTime &time)
{
	std::string all = time.start + " .. " + time.end;
	if (!time.start_key.empty())
		all += " per " + time.start_key + (time.end_key == time.start_key ? "" : " = " + time.end_key);
	return all;
}

std::uint64_t open_of(const EventTime &time)
{
	return time.starts - std::min(time.starts, time.replaced + time.forgotten + time.number);
}

RecordingInfo parse_recording(const std::string &json)
{
	RecordingInfo info;
	std::optional<Contents> recorded = parse(json);
	info.present = recorded.has_value();
	if (!recorded)
		return info;
	static_cast<Contents &>(info) = std::move(*recorded);
	mark_damaged(info);
	info.partial = partial_classes(info);
	if (info.counting)
		info.counters = counters_info(*info.counting);
	return info;
}

bool RecordingInfo::has_damaged_states() const
{
	return states &&
	       (states->begin != start.time || states->end != end.time || states->end.value_or(~0ull) < states->begin);
}

std::optional<std::uint64_t> RecordingInfo::start_time() const
{
	return !lives.empty() && lives.front().start.time ? lives.front().start.time : start.time;
}

ClockSkew RecordingInfo::skew() const
{
	ClockSkew skew;
	skew.ticks = worst_skew(tsc_skew.start, tsc_skew.end);
	std::optional<std::uint64_t> min_uncertainty, not_compared;
	for (const TscSkew &measured : {tsc_skew.start, tsc_skew.end}) {
		if (measured.cpus_compared)
			min_uncertainty = std::min(min_uncertainty.value_or(~0ull), measured.uncertainty);
		const std::uint64_t reached = std::min(measured.cpus_online, measured.cpus_compared + 1);
		if (measured.cpus_online)
			not_compared = std::min(not_compared.value_or(~0ull), measured.cpus_online - reached);
		skew.uncertainty = std::max(skew.uncertainty, measured.uncertainty);
		skew.cpus_compared = std::max(skew.cpus_compared, measured.cpus_compared);
		skew.cpus_online = std::max(skew.cpus_online, measured.cpus_online);
	}
	skew.min_uncertainty = min_uncertainty.value_or(0);
	skew.not_compared = not_compared.value_or(0);
	return skew;
}

std::map<unsigned, double> RecordingInfo::judgement_ns() const
{
	std::map<unsigned, double> by_class;
	for (const Judgement &each : judgements)
		by_class[each.id] = each.ns;
	return by_class;
}

bool RecordingInfo::attached(const std::string &event) const
{
	return std::ranges::any_of(programs, [&](const std::string &name) {
		// older recorders wrote classic_
		return name == event || name == "tp_" + event || name == "classic_" + event;
	});
}

std::string RecordingInfo::partial_of(std::initializer_list<const char *> events) const
{
	std::string names;
	for (const char *event : events)
		if (partial.contains(event))
			names += (names.empty() ? "" : ", ") + std::string(event);
	return names;
}

bool RecordingInfo::has_partial() const
{
	return std::ranges::any_of(partial, [this](const std::string &name) {
		return attached(name) || attached("plain_" + name) || name.ends_with("_begin") ||
		       name.ends_with("_end");
	});
}

std::uint64_t RecordingInfo::tokens() const
{
	if (!has_tokens || statistics)
		return 0;
	std::uint64_t sum = user_card ? user_card->tokens : 0;
	for (const ClassCounts &counts : classes)
		sum += counts.written();
	return sum;
}

std::uint64_t RecordingInfo::lost() const
{
	std::uint64_t sum = flight ? flight->discarded : 0;
	for (const ClassCounts &counts : classes)
		sum += counts.lost();
	return sum;
}

bool RecordingInfo::has_possible_cpu_time(std::uint64_t elapsed_ns) const
{
	constexpr std::uint64_t max_cpus = 8192;
	constexpr double clocks_differ = 2, slack_ns = 1e9;
	// A snapshot's is measured apart from its window.
	const double elapsed = static_cast<double>(elapsed_ns) + (flight ? static_cast<double>(recorder.wall_ns) : 0);
	const auto all_cpus = static_cast<double>(cpus ? std::min(cpus, max_cpus) : max_cpus);
	return static_cast<double>(recorder.cpu_ns) <= all_cpus * elapsed * clocks_differ + slack_ns;
}

// Recorders sum the same counts by class and by CPU. Subtracts, as a sum of damaged ones may overflow.
bool RecordingInfo::has_losses_of_cpus() const
{
	std::uint64_t rest = lost();
	for (const std::uint64_t of_cpu : lost_by_cpu) {
		if (of_cpu > rest)
			return false;
		rest -= of_cpu;
	}
	return lost_by_cpu.empty() || rest == 0;
}

std::uint64_t RecordingInfo::paused() const
{
	return sum_of_all<std::uint64_t>(classes, &ClassCounts::paused);
}

std::uint64_t RecordingInfo::too_deep() const
{
	return sum_of_all<std::uint64_t>(classes, &ClassCounts::too_deep);
}

std::uint64_t RecordingInfo::missed() const
{
	std::uint64_t sum = 0;
	for (const auto &[program, end] : misses.end) {
		const auto start = misses.start.find(program);
		sum += end - (start == misses.start.end() ? 0 : std::min(start->second, end));
	}
	return sum;
}

std::string RecordingInfo::command_line() const
{
	std::string line;
	for (const std::string &word : command)
		line += (line.empty() ? "" : " ") + word;
	return line;
}

std::string RecordingInfo::events_text() const
{
	std::string text;
	for (const std::string &family : families)
		text += (text.empty() ? "" : ", ") + family;
	constexpr std::size_t max_named = 10; // the sets of -e leave out three
	for (std::size_t i = 0; i < std::min(left_out.size(), max_named); ++i)
		text += (i == 0 ? ", without " : ", ") + left_out[i];
	if (left_out.size() > max_named)
		text += fmt::format(" and {} more", left_out.size() - max_named);
	return text;
}

std::string RecordingInfo::switches_text() const
{
	std::string known, unknown;
	for (const char *flag : {"throttled", "iowait", "memstall"}) {
		std::string &text = std::ranges::count(switch_flags, flag) ? known : unknown;
		text += (text.empty() ? "" : ", ") + std::string(flag);
	}
	return known.empty() ? "" : "say " + known + (unknown.empty() ? "" : "; unknown: " + unknown);
}

bool RecordingInfo::knows_throttled() const
{
	return std::ranges::count(switch_flags, "throttled") != 0;
}

// Tokens have groups of version 2 only: where version 1 has the quotas, which threads share one is unknown.
bool RecordingInfo::throttles_groups() const
{
	unsigned major = 0, minor = 0;
	const bool is_known = std::sscanf(kernel.c_str(), "%u.%u", &major, &minor) == 2;
	return knows_throttled() && is_known && std::pair(major, minor) < std::pair(6u, 18u) && cgroups.start &&
	       cgroups.start->hierarchy == 2;
}

std::string RecordingInfo::unknown_text() const
{
	return std::ranges::find(left_out, "softirq_entry") == left_out.end()
		   ? ""
		   : "softirqs were left out (-e): their time is part of what they interrupted, and a thread as waker "
		     "is unknown, because a softirq may have been it";
}

std::string RecordingInfo::short_command() const
{
	constexpr std::size_t max_length = 80;
	const std::string line = command_line();
	return line.size() <= max_length ? line : line.substr(0, max_length - 3) + "...";
}

std::string RecordingInfo::title() const
{
	return fmt::format("{} on {}{}{}", command.empty() ? "the machine" : short_command(), host.empty() ? "?" : host,
			   note.empty() ? "" : ": ", note);
}

RecordingInfo recording_of(const trace::Trace &trace)
{
	RecordingInfo info = parse_recording(trace.is_generic_ctf() ? "" : trace.recording_json());
	if (const std::string *host = trace.description().find_env("hostname"); host && trace.is_generic_ctf())
		info.host = *host;
	return info;
}

} // namespace monitor::analyze
