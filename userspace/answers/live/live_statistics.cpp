// SPDX-License-Identifier: MIT
#include "live_statistics.h"

#include <utility>

#include "base/own_cpu_time.h"
#include "period_records.h"

namespace monitor::live {
namespace {

constexpr std::size_t max_cgroups = 100'000;

} // namespace

LiveStatistics::LiveStatistics(record::StatisticsOptions options)
    : options_(options), fold_(options.period_ns, [this] { end_period(); })
{
	fold_.align();
	fold_.forget_often();
	fold_.set_on_start([this] {
		sums_.emplace(fold_.thread_fold(), fold_.tracker());
		fold_.add(*sums_);
	});
}

void LiveStatistics::start(const record::LiveStart &start)
{
	start_ = start;
	files_.emplace(start.directory, options_.keep_ns, start.ages);
	recorder_ns_ = own_cpu_time_ns();
	fold_.start(start);
}

// Whether there are cgroups that did not exist when names were last written.
bool LiveStatistics::has_new_cgroups()
{
	bool has_new = false;
	if (cgroups_.size() >= max_cgroups)
		cgroups_.clear();
	for (const analyze::Thread &thread : fold_.thread_fold().threads())
		fold_.thread_fold().visit_cgroups(thread, [&](std::uint64_t cgroup, const analyze::Usage &) {
			has_new |= cgroup != 0 && cgroups_.insert(cgroup).second;
		});
	return has_new;
}

void LiveStatistics::end_period()
{
	const analyze::ThreadFold &thread_fold = fold_.thread_fold();
	record::PeriodFiles::Period period;
	const trace::Clock &clock = fold_.clock();
	period.begin_wall_ns = clock.wall_ns(thread_fold.window_begin());
	period.end_ns = static_cast<std::int64_t>(clock.to_ns(thread_fold.window_end()));
	period.description = start_.describe();
	if (has_new_cgroups())
		period.after_write = start_.name_cgroups;

	const std::uint64_t recorder_ns = own_cpu_time_ns(), late = fold_.late();
	PeriodFacts facts;
	facts.is_lossy = fold_.has_losses() || late != late_;
	facts.lost = fold_.lost();
	facts.late = late - std::exchange(late_, late);
	facts.recorder_ns = recorder_ns - std::exchange(recorder_ns_, recorder_ns);
	facts.events = fold_.counts();
	facts.outside = fold_.take_outside();
	const auto keep = [&](const std::byte *block) {
		period.blocks.insert(period.blocks.end(), block, block + EDC_BLOCK_SIZE);
	};
	facts.time_shift = start_.time_shift;
	facts.threads_since = start_.threads_since;
	record::ControlStream stream(start_.uuid, keep, start_.first_stream + number_++);
	sums_->settle();
	write_period(stream, facts, thread_fold, *sums_);
	stream.flush();
	sums_->clear();
	files_->add(std::move(period));
}

record::LiveEnd LiveStatistics::finish()
{
	const record::LiveEnd end = fold_.finish();
	files_->finish();
	return end;
}

} // namespace monitor::live
