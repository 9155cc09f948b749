// SPDX-License-Identifier: MIT
#include "window.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::metrics {
using analyze::Thread;
using analyze::Usage;

void Window::got_cpu(const Thread &thread, std::uint64_t from, std::uint64_t to)
{
	if (thread.tid != 0 && !thread.filtered)
		scale_.add(run_queue_[{fold_.thread_fold().cgroup_of(thread), &thread}], to - std::min(from, to));
}

CallFigures &Window::figures_of(const Thread &thread, std::uint32_t call)
{
	const ThreadCall key{&thread, fold_.thread_fold().cgroup_of(thread), call};
	auto found = calls_.find(key);
	if (found == calls_.end() && calls_.size() < max_latencies)
		found = calls_.try_emplace(key).first;
	return found == calls_.end() ? other_calls_ : found->second;
}

void Window::refused_call(const Thread &thread, std::uint32_t call, std::uint64_t, std::int64_t result)
{
	figures_of(thread, call).failed += analyze::has_failed(result);
}

void Window::system_call(const Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result)
{
	CallFigures &figures = figures_of(thread, number);
	scale_.add(figures.latency, end - std::min(begin, end));
	figures.failed += analyze::has_failed(result);
}

RowFigures Window::figures(const Usage &usage) const
{
	RowFigures figures;
	for (std::size_t i = 0; i < analyze::modes; ++i)
		figures.cpu[i] = scale_.seconds(usage.ticks[i]);
	figures.waiting = scale_.seconds(usage.waiting);
	figures.throttled = scale_.seconds(usage.throttled);
	figures.blocked = scale_.seconds(usage.blocked);
	figures.voluntary = usage.voluntary;
	figures.involuntary = usage.involuntary;
	figures.migrations = usage.migrations;
	figures.calls = usage.syscalls;
	figures.minor_faults = usage.minor_faults;
	figures.major_faults = usage.major_faults;
	return figures;
}

Window::RowKey Window::process_of(const Thread &thread, std::uint64_t cgroup) const
{
	return {cgroup, &fold_.thread_fold().leader(thread)};
}

// Usage attributed to no thread: the machine's figures minus those of all threads, which rarely exceed them.
Usage Window::unattributed_usage(const live::MachineTotals &totals, const Usage &threads)
{
	Usage all = totals.usage, rest;
	all.migrations = totals.migrations;
	all.syscalls = totals.calls;
	all.minor_faults = totals.minor_faults;
	all.major_faults = totals.major_faults;
	const auto subtract = [](std::uint64_t from, std::uint64_t what, std::uint64_t &debt) {
		what += debt;
		debt = what - std::min(what, from);
		return from - std::min(what, from);
	};
	for (std::size_t i = 0; i < analyze::modes; ++i)
		rest.ticks[i] = subtract(all.ticks[i], threads.ticks[i], debt_.ticks[i]);
	rest.migrations = subtract(all.migrations, threads.migrations, debt_.migrations);
	rest.syscalls = subtract(all.syscalls, threads.syscalls, debt_.syscalls);
	rest.minor_faults = subtract(all.minor_faults, threads.minor_faults, debt_.minor_faults);
	rest.major_faults = subtract(all.major_faults, threads.major_faults, debt_.major_faults);
	return rest;
}

void Window::take_calls(Changes &changes, const std::unordered_map<RowKey, Owner, KeyHash> &names)
{
	for (const auto &[of, figures] : calls_) {
		const auto named = names.find(process_of(*of.thread, of.cgroup));
		if (named == names.end()) {
			other_calls_ += figures;
			continue;
		}
		const OwnerCall key{named->second, fold_.thread_fold().kinds().syscall_label(of.call)};
		auto &change = changes.calls[key];
		change.value += figures;
		change.may_be_shown = changes.rows[named->second].may_be_shown;
	}
	changes.other_calls = std::exchange(other_calls_, {});
	calls_.clear();
	double count = 0, seconds = 0;
	for (const auto &[key, change] : changes.calls) {
		count += static_cast<double>(change.value.latency.count());
		seconds += change.value.latency.seconds;
	}
	// A call's weight combines number and time.
	for (auto &[key, change] : changes.calls)
		change.weight = static_cast<double>(change.value.latency.count()) / std::max(count, 1.0) +
				change.value.latency.seconds / std::max(seconds, 1e-9);
}

Changes Window::take(const CgroupPaths &paths)
{
	const analyze::ThreadFold &thread_fold = fold_.thread_fold();
	Changes changes;
	changes.totals = live::totals_of(fold_);
	std::unordered_map<RowKey, ThreadSums, KeyHash> rows; // by process: fewer than threads, and without names
	Usage threads, idle, unselected;
	for (const Thread &thread : thread_fold.threads()) {
		if (thread.usage.is_empty())
			continue;
		threads += thread.usage;
		if (thread.tid == 0) {
			idle += thread.usage;
			continue;
		}
		if (thread.filtered) {
			unselected += thread.usage;
			continue;
		}
		thread_fold.visit_cgroups(thread, [&](std::uint64_t cgroup, const Usage &usage) {
			if (!usage.is_empty())
				rows[process_of(thread, cgroup)].usage += usage;
		});
	}
	for (const auto &[of, latency] : run_queue_)
		rows[process_of(*of.thread, of.cgroup)].run_queue += latency;
	run_queue_.clear();
	std::unordered_map<RowKey, Owner, KeyHash> names;
	for (const auto &[key, row] : rows) {
		const auto path = paths.find(key.cgroup);
		const bool is_unnamed = key.cgroup != 0 && path == paths.end();
		changes.has_unnamed_cgroups |= is_unnamed;
		const Owner who{path != paths.end() ? path->second
						    : (is_unnamed ? fmt::format("cgroup {}", key.cgroup) : "unknown"),
				key.thread->name.empty() ? "?" : key.thread->name};
		names.emplace(key, who);
		auto &change = changes.rows[who];
		change.value += figures(row.usage);
		change.value.run_queue += row.run_queue;
		change.weight += scale_.seconds(row.usage.cpu() + row.usage.waiting + row.usage.throttled);
		change.may_be_shown = !is_unnamed; // it will have a name soon
	}
	changes.idle = figures(idle);
	changes.unselected = figures(unselected);
	changes.unknown = figures(unattributed_usage(changes.totals, threads));
	const std::uint64_t of_threads = threads.voluntary + threads.involuntary;
	changes.idle_switches = changes.totals.switches - std::min(of_threads, changes.totals.switches);
	take_calls(changes, names);
	return changes;
}

} // namespace monitor::metrics
