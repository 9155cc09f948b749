// SPDX-License-Identifier: MIT
#include "usage_report.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace monitor::report {
namespace {

using analyze::Mode;
using analyze::Thread;
using analyze::Usage;

struct ModeColumn {
	Mode mode;
	const char *key, *title;
	unsigned rank;
	const char *meaning; // of a row's CPU time, or of a CPU's time
};

constexpr ModeColumn mode_columns[] = {
    {Mode::user, "user_percent", "user%", 3, "part of it in user mode"},
    {Mode::kernel, "kernel_percent", "kern%", 3, "part of it in system calls and page faults"},
    {Mode::irq, "irq_percent", "irq%", 8, "part of it in hardware interrupts that hit it"},
    {Mode::softirq, "softirq_percent", "sirq%", 8, "part of it in softirqs that hit it"},
    {Mode::unattributed, "unattributed_percent", "unattr%", 7,
     "part of it in kernel or user mode: no token shows which"},
    {Mode::unknown, "unknown_percent", "unkn%", 6, "part of it after a loss or before the first token"},
};

void add_mode_columns(std::vector<Column> &columns)
{
	for (const ModeColumn &column : mode_columns)
		columns.push_back({column.key, column.title, Unit::percent, column.rank, column.meaning});
}

// A thread's CPU time within the recording by the kernel's own count. A thread that is not in the list at the start
// began later. nullopt: unknown.
std::optional<std::uint64_t> counted_by_kernel_ns(const Thread &thread)
{
	const analyze::ThreadCounts &last = thread.at_exit.present ? thread.at_exit : thread.at_end;
	if (!last.present || last.sum_exec_ns < thread.at_start.sum_exec_ns)
		return {};
	return last.sum_exec_ns - thread.at_start.sum_exec_ns;
}

// The sum is unknown if one figure is.
void add(std::optional<std::uint64_t> &sum, const std::optional<std::uint64_t> &value)
{
	sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
}

bool did_nothing(const Usage &usage)
{
	return usage.cpu() == 0 && usage.voluntary + usage.involuntary == 0;
}

bool slept_or_moved(const Usage &usage)
{
	return usage.waiting + usage.throttled + usage.blocked + usage.migrations > 0;
}

Cell percent(std::uint64_t part, std::uint64_t whole)
{
	if (whole == 0)
		return {};
	return static_cast<double>(part) / static_cast<double>(whole) * 100;
}

// For statistics the time of the periods, as usage between two recordings is unknown.
std::uint64_t recorded_time(const analyze::ThreadFold &fold)
{
	return fold.periods().count ? fold.periods().ticks
				    : fold.window_end() - std::min(fold.window_begin(), fold.window_end());
}

// /proc/stat restarts a CPU's figure after the CPU was offline.
std::uint64_t stolen(std::uint64_t start_ns, std::uint64_t end_ns)
{
	return end_ns < start_ns ? end_ns : end_ns - start_ns;
}

Cell nanoseconds(const trace::Clock &clock, std::uint64_t ticks)
{
	return clock.to_ns(ticks);
}

std::vector<Column> usage_columns(const Grouping &grouping, bool with_bounds)
{
	std::vector<Column> columns = grouping.columns();
	columns.push_back({"cpu_ns", "CPU time", Unit::nanoseconds, 0, "time on a CPU"});
	if (with_bounds)
		columns.push_back({"cpu_bound_ns", "at most", Unit::nanoseconds, 1,
				   "the kernel's own count of it, as events were lost"});
	columns.push_back({"cpu_percent", "CPU%", Unit::percent, 2, "the same in percent of one CPU"});
	add_mode_columns(columns);
	const auto add = [&](const char *key, const char *title, Unit unit, unsigned rank, const char *meaning) {
		columns.push_back({key, title, unit, rank, meaning});
	};
	add("waiting_ns", "runnable", Unit::nanoseconds, 1, "time ready to run without a CPU, which others had");
	columns.push_back({"throttled_ns", "throttled", Unit::nanoseconds, 1,
			   "time ready to run, and its cgroup had used up its quota; until it ran again", true});
	add("blocked_ns", "blocked", Unit::nanoseconds, 1, "time asleep, summed over the threads");
	add("voluntary", "vol", Unit::count, 9, "switches away because it slept");
	add("involuntary", "invol", Unit::count, 10, "switches away because another thread took the CPU");
	add("migrations", "migr", Unit::count, 12, "moves to another CPU");
	add("syscalls", "syscalls", Unit::count, 9, "system calls entered or refused");
	add("minor_faults", "minflt", Unit::count, 11, "page faults without waiting for a disk");
	add("major_faults", "majflt", Unit::count, 13, "page faults that waited for a disk");
	return columns;
}

} // namespace

Table usage_table(const analyze::ThreadFold &fold, const trace::Clock &clock, const UsageOptions &options,
		  std::size_t *further_rows)
{
	Table table;
	Grouping grouping(fold, options.grouping);
	std::vector<Usage> usages;
	std::vector<std::optional<std::uint64_t>> bounds; // of CPU time, where tokens were lost
	for (const Thread &thread : fold.threads()) {
		if (thread.tid == 0 || !thread.selected)
			continue;
		// The kernel's count covers all cgroups of a thread.
		const bool is_divided = options.grouping.by == GroupBy::cgroup && !thread.left.empty();
		std::optional<std::uint64_t> counted = is_divided ? std::nullopt : counted_by_kernel_ns(thread);
		fold.visit_cgroups(thread, [&](std::uint64_t cgroup, const Usage &usage) {
			if (options.only && !options.only(thread, cgroup))
				return;
			const std::size_t row = grouping.row_of(thread, cgroup);
			usages.resize(std::max(usages.size(), row + 1));
			bounds.resize(usages.size(), 0);
			usages[row] += usage;
			add(bounds[row],
			    std::exchange(counted, is_divided ? std::nullopt : std::optional<std::uint64_t>(0)));
		});
	}
	const bool with_bounds = fold.gaps() > 0 && fold.is_whole() && fold.scope().cpus.empty() &&
				 std::ranges::any_of(bounds, [](const auto &bound) { return bound.value_or(0) > 0; });
	table.columns = usage_columns(grouping, with_bounds);
	std::vector<std::size_t> order(usages.size());
	std::iota(order.begin(), order.end(), std::size_t{0});
	std::erase_if(order, [&](std::size_t i) {
		const bool is_bounded = with_bounds && bounds[i].value_or(0);
		const bool is_sleeper = options.with_sleepers && slept_or_moved(usages[i]);
		return did_nothing(usages[i]) && !is_sleeper && !is_bounded && !grouping.rows()[i].hidden;
	});
	std::vector<std::uint64_t> ran(usages.size());
	std::ranges::transform(usages, ran.begin(), &Usage::cpu);
	std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return ran[i]; });
	const std::size_t shown = std::min(order.size(), options.max_rows);
	if (further_rows)
		*further_rows = order.size() - shown;
	order.resize(shown);
	const std::uint64_t window = recorded_time(fold);
	table.figure = {"cpu_ns", "unknown_percent"};
	for (const std::size_t i : order) {
		const Usage &usage = usages[i];
		std::vector<Cell> row = grouping.cells(grouping.rows()[i]);
		if (grouping.rows()[i].hidden) {
			row.resize(table.columns.size());
			table.rows.push_back(std::move(row));
			continue;
		}
		row.push_back(nanoseconds(clock, usage.cpu()));
		if (with_bounds)
			row.push_back(bounds[i] ? Cell(std::max(*bounds[i], clock.to_ns(usage.cpu()))) : Cell());
		row.push_back(percent(usage.cpu(), window));
		for (const ModeColumn &column : mode_columns)
			row.push_back(options.recorded.knows(usage, column.mode)
					  ? percent(usage[column.mode], usage.cpu())
					  : Cell());
		const bool other = grouping.rows()[i].other;
		const auto if_known = [other](bool recorded, const Cell &cell) {
			return recorded && !other ? cell : Cell();
		};
		row.push_back(if_known(options.recorded.wakings, nanoseconds(clock, usage.waiting)));
		row.push_back(if_known(options.recorded.throttled, nanoseconds(clock, usage.throttled)));
		row.push_back(if_known(options.recorded.wakings, nanoseconds(clock, usage.blocked)));
		row.push_back(usage.voluntary);
		row.push_back(usage.involuntary);
		row.push_back(if_known(options.recorded.migrations, usage.migrations));
		row.push_back(if_known(options.recorded.calls, usage.syscalls));
		row.push_back(if_known(options.recorded.faults, usage.minor_faults));
		row.push_back(if_known(options.recorded.faults, usage.major_faults));
		table.rows.push_back(std::move(row));
	}
	return table;
}

Table cpu_table(const analyze::ThreadFold &fold, const trace::Clock &clock, const analyze::RecordingInfo &info,
		const analyze::Recorded &recorded)
{
	Table table;
	table.columns = {{"cpu", "CPU", Unit::count, 0, "its number"},
			 {"idle_percent", "idle%", Unit::percent, 0, "part of the time in which nothing ran"}};
	add_mode_columns(table.columns);
	table.columns.push_back({"steal_percent", "steal%", Unit::percent, 5,
				 "part of it that the host took; the other columns contain that"});
	table.figure = {"idle_percent", "unknown_percent"};
	const bool any_offline = std::ranges::any_of(fold.cpus(), &analyze::Cpu::offline);
	if (any_offline)
		table.columns.push_back(
		    {"offline_percent", "offline%", Unit::percent, 5, "part of the time in which it was offline"});
	const std::uint64_t window = fold.window_end() - std::min(fold.window_begin(), fold.window_end());
	for (const analyze::Cpu &cpu : fold.cpus()) {
		if (!cpu.selected)
			continue;
		std::vector<Cell> row = {static_cast<std::uint64_t>(cpu.number), percent(cpu.idle, window)};
		for (const ModeColumn &column : mode_columns)
			row.push_back(recorded.knows(cpu.usage, column.mode) ? percent(cpu.usage[column.mode], window)
									     : Cell());
		Cell steal;
		// With several recordings the kernel's figures are the last one's.
		if (fold.is_whole() && info.lives.empty() && info.kernel_counts.start && info.kernel_counts.end &&
		    cpu.number < info.kernel_counts.start->steal_ns.size() &&
		    cpu.number < info.kernel_counts.end->steal_ns.size())
			steal = percent(stolen(info.kernel_counts.start->steal_ns[cpu.number],
					       info.kernel_counts.end->steal_ns[cpu.number]),
					clock.to_ns(window));
		row.push_back(steal);
		if (any_offline)
			row.push_back(percent(cpu.offline, window));
		table.rows.push_back(std::move(row));
	}
	return table;
}

} // namespace monitor::report
