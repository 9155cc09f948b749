// SPDX-License-Identifier: MIT
#include "metrics.h"

#include <algorithm>
#include <utility>

#include "base/own_cpu_time.h"

namespace monitor::metrics {

Metrics::Metrics(std::uint64_t window_ns, std::size_t max_series)
    : fold_(std::make_shared<live::LiveFold>(window_ns, [this] { add_window(); })), rows_(max_series),
      calls_(max_series)
{
	fold_->set_on_start([this] { start(); });
}

void Metrics::name_cgroups(CgroupPaths paths)
{
	auto named = std::make_shared<const CgroupPaths>(std::move(paths));
	const std::lock_guard guard(lock_);
	paths_ = std::move(named);
}

std::shared_ptr<const Figures> Metrics::newest() const
{
	const std::lock_guard guard(lock_);
	return newest_;
}

void Metrics::start()
{
	window_.emplace(*fold_);
	fold_->add(*window_);
	const analyze::RecordingInfo &info = fold_->info();
	sums_.recorded = analyze::recorded(info);
	sums_.kernel = info.kernel;
	sums_.card = info.card;
	sums_.is_filtering = info.filtering();
	sums_.other_recorders = info.other_recorders.size();
	sums_.start_s = sums_.end_s =
	    static_cast<double>(fold_->clock().wall_ns(fold_->thread_fold().window_begin())) / 1e9;
	sums_.cpus = fold_->thread_fold().cpus().size();
	if (info.calibration)
		sums_.probes_low_s = sums_.probes_high_s = 0;
	for (const auto &[name, count] : live::totals_of(*fold_).interrupts_by_class)
		sums_.machine.interrupts[name] = 0;
	recorder_ns_ = own_cpu_time_ns();
	publish();
}

void Metrics::add_window()
{
	std::shared_ptr<const CgroupPaths> paths;
	{
		const std::lock_guard guard(lock_);
		paths = paths_;
	}
	const analyze::ThreadFold &thread_fold = fold_->thread_fold();
	const Changes changes = window_->take(*paths);
	has_unnamed_cgroups_ = changes.has_unnamed_cgroups;
	const double per_tick = 1 / static_cast<double>(std::max<std::uint64_t>(fold_->clock().frequency_hz, 1));
	const double length_s = static_cast<double>(thread_fold.window_end() - thread_fold.window_begin()) * per_tick;
	rows_.add(changes.rows, sums_.end_s, length_s);
	calls_.add(changes.calls, sums_.end_s, length_s);
	sums_.other_calls += changes.other_calls; // in addition to those of calls_
	sums_.idle += changes.idle;
	sums_.unknown += changes.unknown;
	sums_.unselected += changes.unselected;
	sums_.machine.add(changes.totals, per_tick);
	sums_.machine.idle_switches += changes.idle_switches;
	sums_.now = changes.totals;
	sums_.cpus = thread_fold.cpus().size();
	++sums_.windows;
	sums_.covered_s += length_s;
	sums_.incomplete_s += fold_->has_losses() ? length_s : 0;
	sums_.end_s = static_cast<double>(fold_->clock().wall_ns(thread_fold.window_end())) / 1e9;
	sums_.late = fold_->late();
	add_cost();
	publish();
}

void Metrics::add_cost()
{
	const std::uint64_t recorder_ns = own_cpu_time_ns();
	sums_.recorder_s += static_cast<double>(recorder_ns - std::exchange(recorder_ns_, recorder_ns)) / 1e9;
	const cost::ProbeCost probes = fold_->probe_cost();
	const auto add = [](std::optional<double> &sum, const std::optional<double> &ns) {
		sum = sum && ns ? std::optional(*sum + std::max(*ns, 0.0) / 1e9)
				: std::nullopt; // the sum is unknown if one part is
	};
	add(sums_.probes_low_s, probes.low_ns);
	add(sums_.probes_high_s, probes.high_ns);
}

void Metrics::publish()
{
	auto figures = std::make_shared<Figures>(sums_);
	figures->rows = rows_.shown();
	figures->other = rows_.other();
	figures->retired = rows_.retired();
	figures->retired_rows = rows_.retirements();
	figures->calls = calls_.shown();
	figures->other_calls += calls_.other();
	figures->retired_calls = calls_.retirements();
	const std::lock_guard guard(lock_);
	newest_ = std::move(figures);
}

} // namespace monitor::metrics
