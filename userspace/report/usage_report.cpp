// SPDX-License-Identifier: MIT
#include "usage_report.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace monitor::report {
namespace {

using analyze::Mode;
using analyze::Thread;
using analyze::Usage;

struct Group {
	std::string name;
	std::int32_t pid = -1;
	std::string kind; // "", "kernel"
	bool in_tree = false;
	Usage usage;
	std::uint64_t threads = 0;
};

const std::pair<Mode, std::pair<const char *, const char *>> mode_columns[] = {
    {Mode::user, {"user_percent", "user%"}},
    {Mode::kernel, {"kernel_percent", "kern%"}},
    {Mode::irq, {"irq_percent", "irq%"}},
    {Mode::softirq, {"softirq_percent", "sirq%"}},
    {Mode::unattributed, {"unattributed_percent", "unattr%"}},
    {Mode::unknown, {"unknown_percent", "unkn%"}},
};

constexpr const char *other_name = "other";

bool did_nothing(const Usage &usage)
{
	return usage.cpu() == 0 && usage.voluntary + usage.involuntary == 0;
}

Cell percent(std::uint64_t part, std::uint64_t whole)
{
	if (whole == 0)
		return {};
	return static_cast<double>(part) / static_cast<double>(whole) * 100;
}

class Groups {
public:
	Groups(const analyze::Machine &machine, const UsageOptions &options) : machine_(machine), options_(options) {}

	void add(const Thread &thread)
	{
		const Thread &leader = machine_.leader(thread);
		Group &group = group_of(thread, leader);
		group.usage += thread.usage;
		group.in_tree |= thread.in_tree;
		++group.threads;
	}

	std::vector<Group> take()
	{
		std::erase_if(groups_, [](const Group &group) { return did_nothing(group.usage); });
		std::ranges::stable_sort(groups_,
					 [](const Group &a, const Group &b) { return a.usage.cpu() > b.usage.cpu(); });
		return std::move(groups_);
	}

private:
	Group &group_of(const Thread &thread, const Thread &leader)
	{
		if (options_.filtering && thread.filtered)
			return named(other_name, -1);
		switch (options_.by) {
		case GroupBy::thread:
			return keyed(&thread, thread.name, thread.tid);
		case GroupBy::command:
			return named(leader.name.empty() ? "?" : leader.name, -1);
		case GroupBy::cgroup:
			return named(cgroup_path(machine_.cgroup_of(thread)), -1);
		default:
			return keyed(&leader, leader.name, leader.tgid);
		}
	}

	std::string cgroup_path(std::uint64_t id) const
	{
		const auto path = options_.cgroup_paths.find(id);
		return path != options_.cgroup_paths.end() ? path->second
		       : id                                ? fmt::format("cgroup {}", id)
							   : "unknown";
	}

	Group &keyed(const void *key, const std::string &name, std::int32_t pid)
	{
		const auto [place, is_new] = by_key_.try_emplace(key, groups_.size());
		if (is_new)
			groups_.push_back({name.empty() ? "?" : name, pid, {}, false, {}, 0});
		return groups_[place->second];
	}

	Group &named(const std::string &name, std::int32_t pid)
	{
		const auto [place, is_new] = by_name_.try_emplace(name, groups_.size());
		if (is_new)
			groups_.push_back({name, pid, {}, false, {}, 0});
		return groups_[place->second];
	}

	const analyze::Machine &machine_;
	const UsageOptions &options_;
	std::vector<Group> groups_;
	std::unordered_map<const void *, std::size_t> by_key_;
	std::unordered_map<std::string, std::size_t> by_name_;
};

// /proc/stat's figure of a CPU starts again when the CPU was offline.
std::uint64_t stolen(std::uint64_t start_ns, std::uint64_t end_ns)
{
	return end_ns < start_ns ? end_ns : end_ns - start_ns;
}

Cell nanoseconds(const trace::Clock &clock, std::uint64_t ticks)
{
	return clock.to_ns(ticks);
}

} // namespace

Table usage_table(const analyze::Machine &machine, const trace::Clock &clock, const UsageOptions &options)
{
	Table table;
	const bool one = options.by == GroupBy::process || options.by == GroupBy::thread;
	const char *what = options.by == GroupBy::thread    ? "thread"
			   : options.by == GroupBy::command ? "command"
			   : options.by == GroupBy::cgroup  ? "cgroup"
							    : "process";
	table.columns = {{"recorded", "", Unit::flag}, {what, what, Unit::text}};
	if (one)
		table.columns.push_back({options.by == GroupBy::thread ? "tid" : "pid",
					 options.by == GroupBy::thread ? "tid" : "pid", Unit::count});
	table.columns.push_back({"cpu_ns", "CPU time", Unit::nanoseconds});
	table.columns.push_back({"cpu_percent", "CPU%", Unit::percent});
	for (const auto &[mode, names] : mode_columns)
		table.columns.push_back({names.first, names.second, Unit::percent});
	table.columns.push_back({"waiting_ns", "waiting", Unit::nanoseconds});
	table.columns.push_back({"blocked_ns", "blocked", Unit::nanoseconds});
	for (const auto &[key, title] : {std::pair{"voluntary", "vol"}, std::pair{"involuntary", "invol"},
					 std::pair{"migrations", "migr"}, std::pair{"syscalls", "syscalls"},
					 std::pair{"minor_faults", "minflt"}, std::pair{"major_faults", "majflt"}})
		table.columns.push_back({key, title, Unit::count});

	Groups groups(machine, options);
	for (const Thread &thread : machine.threads())
		if (thread.tid != 0)
			groups.add(thread);
	const std::uint64_t window = machine.window_end() - std::min(machine.window_begin(), machine.window_end());
	for (const Group &group : groups.take()) {
		const Usage &usage = group.usage;
		std::vector<Cell> row = {group.in_tree, group.name};
		if (one)
			row.push_back(group.pid < 0 ? Cell() : Cell(static_cast<std::uint64_t>(group.pid)));
		row.push_back(nanoseconds(clock, usage.cpu()));
		row.push_back(percent(usage.cpu(), window));
		for (const auto &[mode, names] : mode_columns)
			row.push_back(percent(usage[mode], usage.cpu()));
		const bool other = options.filtering && group.pid < 0 && group.name == other_name;
		const auto if_known = [other](bool recorded, const Cell &cell) {
			return recorded && !other ? cell : Cell();
		};
		row.push_back(if_known(options.wakings, nanoseconds(clock, usage.waiting)));
		row.push_back(if_known(options.wakings, nanoseconds(clock, usage.blocked)));
		row.push_back(usage.voluntary);
		row.push_back(usage.involuntary);
		row.push_back(if_known(options.migrations, usage.migrations));
		row.push_back(if_known(options.calls, usage.syscalls));
		row.push_back(if_known(options.faults, usage.minor_faults));
		row.push_back(if_known(options.faults, usage.major_faults));
		table.rows.push_back(std::move(row));
	}
	return table;
}

Table cpu_table(const analyze::Machine &machine, const trace::Clock &clock, const analyze::RecordingInfo &info)
{
	Table table;
	table.columns = {{"cpu", "CPU", Unit::count}, {"idle_percent", "idle%", Unit::percent}};
	for (const auto &[mode, names] : mode_columns)
		table.columns.push_back({names.first, names.second, Unit::percent});
	table.columns.push_back({"steal_percent", "steal%", Unit::percent});
	const std::uint64_t window = machine.window_end() - std::min(machine.window_begin(), machine.window_end());
	for (const analyze::Cpu &cpu : machine.cpus()) {
		std::vector<Cell> row = {static_cast<std::uint64_t>(cpu.number), percent(cpu.idle, window)};
		for (const auto &[mode, names] : mode_columns)
			row.push_back(percent(cpu.usage[mode], window));
		Cell steal;
		if (info.start_counts && info.end_counts && cpu.number < info.start_counts->steal_ns.size() &&
		    cpu.number < info.end_counts->steal_ns.size())
			steal = percent(
			    stolen(info.start_counts->steal_ns[cpu.number], info.end_counts->steal_ns[cpu.number]),
			    clock.to_ns(window));
		row.push_back(steal);
		table.rows.push_back(std::move(row));
	}
	return table;
}

Table activity_table(const analyze::ActivityFold &fold, const trace::Clock &clock)
{
	Table table;
	bool has_id = false;
	table.columns.push_back({"recorded", "", Unit::flag});
	for (analyze::Label label : fold.table().by) {
		const bool process = label == analyze::Label::process, thread = label == analyze::Label::thread;
		const char *name = process                         ? "process"
				   : thread                        ? "thread"
				   : label == analyze::Label::call ? "call"
								   : "waker";
		table.columns.push_back({name, name, Unit::text});
		if (process || thread) {
			table.columns.push_back({process ? "pid" : "tid", process ? "pid" : "tid", Unit::count});
			has_id = true;
		}
	}
	table.columns.push_back({"count", "count", Unit::count});
	if (fold.table().activity == analyze::Activity::system_call)
		table.columns.push_back({"errors", "errors", Unit::count});
	for (const auto &[key, title] :
	     {std::pair{"total_ns", "total"}, std::pair{"mean_ns", "mean"}, std::pair{"p50_ns", "p50"},
	      std::pair{"p99_ns", "p99"}, std::pair{"max_ns", "max"}})
		table.columns.push_back({key, title, Unit::nanoseconds});
	for (const analyze::ActivityRow &activity : fold.rows()) {
		std::vector<Cell> row = {activity.in_tree};
		for (std::size_t i = 0; i < activity.labels.size(); ++i) {
			row.push_back(activity.labels[i]);
			const analyze::Label label = fold.table().by[i];
			if (has_id && (label == analyze::Label::process || label == analyze::Label::thread))
				row.push_back(static_cast<std::uint64_t>(activity.pid));
		}
		row.push_back(activity.count);
		if (fold.table().activity == analyze::Activity::system_call)
			row.push_back(activity.errors);
		for (std::uint64_t ticks : {activity.total, activity.total / std::max<std::uint64_t>(activity.count, 1),
					    activity.p50, activity.p99, activity.max})
			row.push_back(nanoseconds(clock, ticks));
		table.rows.push_back(std::move(row));
	}
	return table;
}

} // namespace monitor::report
