// SPDX-License-Identifier: MIT
#include "throttled.h"

#include <algorithm>

#include "base/escape.h"
#include "base/grow.h"

namespace monitor::check {
namespace {

// The kernel reads its clock when throttling begins and ends, the tokens are of the switches: a timer interrupt, and a
// wake-up on another CPU, in between take less than a millisecond.
constexpr std::uint64_t per_throttle_us = 1000;

const CgroupFigures *find_group(const std::optional<Cgroups> &in, const std::string &path)
{
	if (!in)
		return nullptr;
	const auto found = std::ranges::find(in->groups, path, &CgroupFigures::path);
	return found == in->groups.end() ? nullptr : &*found;
}

bool is_within(const std::string &path, const std::string &group)
{
	return group == "/" || path == group || path.starts_with(group + "/");
}

// Unknown: it was not read at the start although the group existed, or the group is gone.
std::optional<std::uint64_t> throttled_us(const AtBothEnds<std::optional<Cgroups>> &read, const std::string &path)
{
	const CgroupFigures *const start = find_group(read.start, path), *const end = find_group(read.end, path);
	const bool began_later = !start && read.start && read.start->has_all;
	if (!end || !end->throttled_us || (!start && !began_later))
		return {};
	const std::uint64_t before = start ? start->throttled_us.value_or(0) : 0;
	return *end->throttled_us - std::min(before, *end->throttled_us);
}

std::uint64_t stolen_ns(const RecordingInfo &info)
{
	std::uint64_t sum = 0;
	if (!info.kernel_counts.start || !info.kernel_counts.end)
		return 0;
	const std::vector<std::uint64_t> &start = info.kernel_counts.start->steal_ns,
					 &end = info.kernel_counts.end->steal_ns;
	for (std::size_t cpu = 0; cpu < std::min(start.size(), end.size()); ++cpu)
		sum += end[cpu] - std::min(start[cpu], end[cpu]);
	return sum;
}

} // namespace

ThrottledTime::ThrottledTime(const ThreadFold &fold, const RecordingInfo &info,
			     const std::map<std::uint64_t, std::string> &paths)
    : fold_(fold), info_(info), paths_(paths)
{
	if (info.knows_throttled())
		add_groups();
}

void ThrottledTime::add_groups()
{
	for (const std::optional<Cgroups> *read : {&info_.cgroups.start, &info_.cgroups.end})
		for (std::size_t i = 0; *read && i < (*read)->groups.size(); ++i) {
			const CgroupFigures &group = (*read)->groups[i];
			if (group.quota_us && std::ranges::find(groups_, group.path, &Group::path) == groups_.end())
				groups_.push_back({group.path, throttled_us(info_.cgroups, group.path),
						   group.period_us.value_or(0),
						   read == &info_.cgroups.start && group.periods.value_or(0) > 0});
		}
}

// If several quotas apply to its threads, the group whose quota was used up. Tokens have groups of version 2 only: with
// quotas of version 1 it may be any.
std::optional<std::size_t> ThrottledTime::group_of(std::uint64_t cgroup)
{
	const auto [known, is_new] = group_of_.try_emplace(cgroup);
	if (!is_new)
		return known->second;
	const bool is_any = info_.cgroups.start && info_.cgroups.start->hierarchy == 1;
	const auto path = paths_.find(cgroup);
	std::vector<std::size_t> with_quota, used_up;
	for (std::size_t i = 0; i < groups_.size(); ++i)
		if (is_any || (path != paths_.end() && is_within(path->second, groups_[i].path))) {
			with_quota.push_back(i);
			if (groups_[i].kernel_us != 0u)
				used_up.push_back(i);
		}
	if (used_up.size() > 1)
		for (const std::size_t i : used_up)
			groups_[i].is_shared = true;
	const std::vector<std::size_t> &candidates = used_up.empty() ? with_quota : used_up;
	return known->second = candidates.empty() ? std::nullopt : std::optional(candidates.front());
}

std::uint64_t &ThrottledTime::busy(std::uint32_t cpu)
{
	return grow_to(busy_, cpu);
}

ThrottledTime::Lane *ThrottledTime::lane_of(const Thread &thread, std::uint32_t cpu)
{
	const std::optional<std::size_t> group = group_of(fold_.cgroup_of(thread));
	return group ? &lanes_[{*group, cpu}] : nullptr;
}

void ThrottledTime::spent(const Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode, bool is_idle)
{
	if (!is_idle)
		busy(cpu.number) += to - from;
}

void ThrottledTime::after(const trace::Event &event)
{
	const EventKind &kind = fold_.kinds()[*event.cls];
	if (kind.kind != EventMeaning::sched_switch)
		return;
	const Thread *const prev = fold_.thread(kind.field[1].get<std::int32_t>(event));
	if (!prev || prev->state != State::throttled || prev->since != event.time)
		return;
	Lane *const lane = lane_of(*prev, event.cpu());
	if (!lane || lane->since)
		return;
	lane->since = event.time;
	lane->busy = busy(event.cpu());
}

// A throttled thread runs again, or the recording ends.
void ThrottledTime::throttled(const Thread &thread, std::uint64_t from, std::uint64_t to)
{
	Lane *const lane = lane_of(thread, thread.queue);
	if (!lane) {
		without_group_ += to - from;
		return;
	}
	if (!lane->since)
		return;
	if (to >= fold_.window_end()) {
		lane->open = to - std::min(to, *lane->since);
	} else {
		lane->ticks += to - std::min(to, *lane->since);
		lane->busy_meanwhile += busy(thread.queue) - std::min(busy(thread.queue), lane->busy);
		++lane->times;
	}
	lane->since.reset();
}

Statement ThrottledTime::judge_one(std::size_t number, const trace::Clock &clock) const
{
	const Group &group = groups_[number];
	std::uint64_t ticks = 0, times = 0, busy_meanwhile = 0, open = 0, cpus = 0;
	for (const auto &[key, lane] : lanes_)
		if (key.first == number) {
			ticks += lane.ticks;
			times += lane.times;
			busy_meanwhile += lane.busy_meanwhile;
			open += lane.open;
			++cpus;
		}
	const auto us = [&](std::uint64_t duration) { return clock.to_ns(duration) / 1000; };
	const std::uint64_t ours = us(ticks);
	const std::string who =
	    fmt::format("throttled by the quota of {}: the tokens show {} us, in {} times on {} CPUs",
			printable(group.path), ours, times, cpus);
	const bool has_all =
	    info_.cgroups.start && info_.cgroups.start->has_all && info_.cgroups.end && info_.cgroups.end->has_all;
	if (!group.kernel_us || group.is_shared || !has_all)
		return Statement(
		    "throttled", Verdict::not_witnessed, "{}; {}", who,
		    !has_all ? "not all groups with a quota were read"
		    : group.is_shared
			? "others of which threads have a share were used up, too, and no token says by which"
			: "its cpu.stat was not read at both ends");
	const std::uint64_t kernel = *group.kernel_us;
	const std::uint64_t slack = times * per_throttle_us + us(open) + stolen_ns(info_) / 1000;
	const std::uint64_t fewer = slack + (group.began_before ? cpus * group.period_us : 0),
			    more = slack + us(busy_meanwhile);
	const bool agrees = kernel <= ours + fewer && ours <= kernel + more;
	return Statement("throttled", agrees ? Verdict::holds : Verdict::fails,
			 "{}, cpu.stat {} us; within {} us less and {} us more, as they last until a thread runs again",
			 who, kernel, fewer, more);
}

void ThrottledTime::judge(const trace::Clock &clock, bool is_lossless, Statements &statements) const
{
	if (without_group_)
		statements.add("throttled", Verdict::not_witnessed,
			       "threads were throttled for {} us by the quotas of groups of which no cpu.stat was read",
			       clock.to_ns(without_group_) / 1000);
	for (std::size_t i = 0; i < groups_.size(); ++i)
		if (is_lossless)
			statements.push_back(judge_one(i, clock));
		else
			statements.add(
			    "throttled", Verdict::not_checked,
			    "throttled by the quota of {}: tokens are missing, so their times are not compared",
			    printable(groups_[i].path));
}

} // namespace monitor::check
