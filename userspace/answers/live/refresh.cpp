// SPDX-License-Identifier: MIT
#include "refresh.h"

#include <algorithm>

#include "answers/report/measurements_table.h"
#include "base/own_cpu_time.h"
#include "measured_rows.h"

namespace monitor::live {
namespace {

constexpr std::size_t max_kept = 1024;                // refreshes; beyond, the oldest are dropped
constexpr std::uint64_t until_mapped_ns = 50'000'000; // so long after a mapping its token may arrive

} // namespace

Refreshes::Refreshes(std::uint64_t window_ns) : fold_(std::make_shared<LiveFold>(window_ns, [this] { make(); }))
{
	fold_->set_on_start([this] {
		details_.emplace(fold_->thread_fold(), fold_->tracker());
		if (!kinds_.empty())
			start_naming();
		{
			const std::lock_guard guard(lock_);
			details_->follow(wanted_.followed, wanted_.thread);
			if (stacks_)
				stacks_->follow(wanted_.followed, wanted_.thread);
		}
		fold_->add(*details_);
		if (const analyze::CounterFold *counters = fold_->counters())
			counters_ = std::make_shared<const analyze::CountersInfo>(counters->info());
		recorder_ns_ = own_cpu_time_ns();
	});
}

void Refreshes::start_naming()
{
	stacks_.emplace(fold_->thread_fold());
	fold_->add(*stacks_);
	stacks_->set_on_clock([this](std::uint64_t time) { name_until(time); });
	fold_->set_on_finish([this] { name_until(~std::uint64_t(0)); });
	naming_.emplace(StackNaming::Options{fold_->directory(), fold_->clock(), kinds_, keeps_all_},
			[this](std::shared_ptr<Refresh> named) { pass_on(std::move(named)); });
}

// Called in the thread that drains the rings.
void Refreshes::name_until(std::uint64_t time)
{
	while (!unnamed_.empty()) {
		const std::uint64_t end = unnamed_.front().refresh->end_ticks;
		if (time - std::min(time, end) < fold_->clock().to_ticks(until_mapped_ns))
			return;
		naming_->name({std::move(unnamed_.front().refresh), std::move(unnamed_.front().window), end,
			       stacks_->take_mappings(), stacks_->take_ended()});
		unnamed_.pop_front();
	}
}

void Refreshes::want(const Wanted &wanted)
{
	const std::lock_guard guard(lock_);
	wanted_ = wanted;
}

void Refreshes::name_cgroups(CgroupPaths paths)
{
	auto named = std::make_shared<const CgroupPaths>(std::move(paths));
	const std::lock_guard guard(lock_);
	paths_ = std::move(named);
}

void Refreshes::make()
{
	Wanted wanted;
	std::shared_ptr<const CgroupPaths> paths;
	{
		const std::lock_guard guard(lock_);
		wanted = wanted_;
		paths = paths_;
	}
	const analyze::ThreadFold &thread_fold = fold_->thread_fold();
	const trace::Clock &clock = fold_->clock();
	auto made = std::make_shared<Refresh>();
	made->number = ++number_;
	made->begin_ns = clock.to_ns(thread_fold.window_begin() - fold_->begin_time());
	made->end_ns = clock.to_ns(thread_fold.window_end() - fold_->begin_time());
	made->begin_ticks = thread_fold.window_begin();
	made->end_ticks = thread_fold.window_end();
	made->end_wall_ns = clock.wall_ns(thread_fold.window_end());
	made->wanted = wanted;
	made->recorded = analyze::recorded(fold_->info());
	report::UsageOptions options;
	options.recorded = made->recorded;
	options.grouping.filtering = fold_->info().filtering();
	options.grouping.by = wanted.by;
	options.grouping.cgroup_paths = *paths;
	report::GroupingOptions by_cgroup = options.grouping;
	by_cgroup.by = report::GroupBy::cgroup;
	const report::Grouping cgroups(thread_fold, by_cgroup);
	options.only = [&](const analyze::Thread &thread, std::uint64_t cgroup) {
		made->has_unnamed_cgroups |= cgroup != 0 && !by_cgroup.cgroup_paths.contains(cgroup);
		return (wanted.process == 0 || thread.tgid == wanted.process) &&
		       (!wanted.command || thread_fold.leader(thread).name == *wanted.command) &&
		       (!wanted.cgroup || cgroups.cgroup_path(cgroup) == *wanted.cgroup);
	};
	made->rows = report::usage_table(thread_fold, clock, options);
	if ((made->counters = counters_))
		made->ratios = add_measured(made->rows, report::measurements_table(*fold_->counters(), thread_fold,
										   clock, {options.grouping, 0}));
	add_virtual_times(*made, options);
	made->cpus = report::cpu_table(thread_fold, clock, fold_->info(), made->recorded);
	made->calls = details_->calls(clock);
	made->sleeps = details_->sleeps(clock);
	made->activities = details_->activities(clock);
	made->followed = details_->process();
	made->followed_thread = details_->thread();
	details_->clear();
	details_->follow(wanted.followed, wanted.thread);
	std::unique_ptr<StackWindow> window;
	if (stacks_) {
		window = stacks_->take_window();
		stacks_->follow(wanted.followed, wanted.thread);
	}
	made->totals = totals_of(*fold_);
	made->has_losses = fold_->has_losses();
	made->late = fold_->late();
	const std::uint64_t recorder_ns = own_cpu_time_ns();
	made->recorder_ns = recorder_ns - std::exchange(recorder_ns_, recorder_ns);
	made->probes = fold_->probe_cost();
	made->other_recorders = fold_->info().other_recorders;
	if (window)
		unnamed_.push_back({std::move(made), std::move(window)});
	else
		pass_on(std::move(made));
}

void Refreshes::pass_on(std::shared_ptr<const Refresh> made)
{
	{
		const std::lock_guard guard(lock_);
		if (!newest_.empty() && newest_.back()->number > made->number)
			return; // its names came late
		if (!keeps_all_ || newest_.size() >= max_kept)
			newest_.clear();
		newest_.push_back(std::move(made));
	}
	has_refresh_.notify_one();
}

void Refreshes::end()
{
	{
		const std::lock_guard guard(lock_);
		is_over_ = true;
	}
	has_refresh_.notify_one();
}

void Refreshes::add_virtual_times(Refresh &made, const report::UsageOptions &options) const
{
	const VirtualFold *const fold = fold_->virtual_times();
	if (!fold)
		return;
	VirtualFacts &facts = made.virtual_times.emplace();
	facts.reasons = fold->cost().reasons;
	facts.is_known = fold->is_known();
	if (!facts.is_known)
		return add_virtual(made.rows, nullptr);
	const report::VirtualReport report(fold_->thread_fold(), fold->times(), fold->cost(), fold_->clock(), options);
	facts.noise = report.noise();
	facts.others = report.others();
	add_virtual(made.rows, &report);
}

std::shared_ptr<const Refresh> Refreshes::next(std::uint64_t seen, std::chrono::milliseconds at_most)
{
	if (naming_ && !keeps_all_)
		naming_->pass_on_late();
	std::unique_lock guard(lock_);
	has_refresh_.wait_for(guard, at_most,
			      [&] { return is_over_ || (!newest_.empty() && newest_.back()->number > seen); });
	while (!newest_.empty() && newest_.front()->number <= seen)
		newest_.pop_front();
	if (newest_.empty())
		return nullptr;
	std::shared_ptr<const Refresh> taken = newest_.front();
	newest_.pop_front();
	return taken;
}

} // namespace monitor::live
