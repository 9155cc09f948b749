// SPDX-License-Identifier: MIT
#include "statistics_replay.h"

#include <algorithm>
#include <utility>

#include "base/histogram.h"
#include "thread_naming.h"

namespace monitor::analyze {
namespace {

constexpr std::size_t max_rows = 1u << 17;

std::uint32_t interrupt_kind(std::uint32_t irq)
{
	return irq >> 16;
}

bool belongs_to_sum(EventMeaning kind)
{
	return kind == EventMeaning::statistics_buckets || kind == EventMeaning::statistics_inclusive ||
	       kind == EventMeaning::statistics_transfers;
}

void read_figures(const EventKind &kind, const trace::Event &event, std::size_t field,
		  std::initializer_list<std::uint64_t *> figures)
{
	for (std::uint64_t *figure : figures)
		*figure = kind.field[field++].get(event);
}

} // namespace

void StatisticsReplay::event(const EventKind &kind, const trace::Event &event, const Target &to)
{
	if (!belongs_to_sum(kind.kind))
		deliver_sum(to);
	switch (kind.kind) {
	case EventMeaning::statistics_period:
		return on_period(kind, event, to);
	case EventMeaning::statistics_events:
		return on_events(kind.field[0].get<std::uint32_t>(event), kind.field[1].get(event));
	case EventMeaning::statistics_cpu:
		return on_cpu(kind, event, to.times);
	case EventMeaning::statistics_thread:
		return on_thread(kind, event, to);
	case EventMeaning::statistics_usage:
		return on_usage(kind, event);
	case EventMeaning::statistics_counts:
		return on_counts(kind, event);
	case EventMeaning::statistics_throttled:
		return on_throttled(kind.field[0].get(event));
	case EventMeaning::statistics_calls:
	case EventMeaning::statistics_sleeps:
		return on_sum(kind, event, to.threads);
	case EventMeaning::statistics_activities:
		return on_activities(kind, event, to.threads);
	case EventMeaning::statistics_open:
		return on_open(kind, event);
	case EventMeaning::statistics_inclusive:
	case EventMeaning::statistics_transfers:
		return on_sum_continued(kind, event);
	default:
		return on_buckets(kind, event);
	}
}

void StatisticsReplay::on_events(std::uint32_t id, std::uint64_t number)
{
	if (!period_.is_counted)
		return;
	if (id & EDC_EVENTS_OUTSIDE) {
		periods_.outside[id & ~static_cast<std::uint32_t>(EDC_EVENTS_OUTSIDE)] += number;
	} else {
		periods_.events[id] += number;
		tokens_ += number;
	}
}

void StatisticsReplay::on_period(const EventKind &kind, const trace::Event &event, const Target &to)
{
	period_ = {};
	period_.begin = event.time;
	period_.end = std::max(kind.field[1].get(event), event.time);
	period_.is_counted = period_.begin < to.times.end() && period_.end > to.times.begin();
	if (!period_.is_counted)
		return;
	const bool is_lossy = kind.field[0].get(event) & EDC_PERIOD_LOSSY;
	++periods_.count;
	periods_.ticks += period_.end - period_.begin;
	periods_.lossy += is_lossy;
	periods_.lost += kind.field[2].get(event);
	periods_.late += kind.field[3].get(event);
	periods_.recorder_ns += kind.field[4].get(event);
	if (is_lossy)
		to.losses.lossy_period(period_.end);
}

void StatisticsReplay::on_cpu(const EventKind &kind, const trace::Event &event, TimeAccount &times) const
{
	Cpu &cpu = times.cpu(kind.field[0].get<std::uint32_t>(event));
	times.skip(cpu, period_.begin); // missing periods
	cpu.accounted = std::max(cpu.accounted, period_.end);
	if (!period_.is_counted)
		return;
	Usage usage;
	for (std::size_t mode = 0; mode < modes; ++mode)
		usage.ticks[mode] = kind.field[1 + mode].get(event);
	cpu.usage += usage;
	const std::uint64_t length = period_.end - period_.begin;
	cpu.idle += length - std::min(usage.cpu(), length);
	cpu.runner_unknown += kind.field[7].get(event);
}

// A thread is distinguished from a later one of the same number by its start time. Sums are per command in a cgroup.
Thread &StatisticsReplay::thread_of(const EventKind &kind, const trace::Event &event, ThreadTable &threads)
{
	const auto flags = kind.field[0].get<std::uint32_t>(event);
	const std::uint64_t started = kind.field[4].get(event), cgroup = kind.field[5].get(event);
	if (flags & (EDC_ROW_ENDED | EDC_ROW_OTHER)) {
		const bool is_other = flags & EDC_ROW_OTHER;
		std::string name(is_other ? "other" : kind.field[3].get<std::string_view>(event));
		Thread *&sum = sums_[{is_other, name, cgroup}];
		if (!sum)
			sum = &threads.add_sum(is_other ? Sum::of_others : Sum::of_ended, std::move(name));
		return *sum;
	}
	const auto tid = kind.field[1].get<std::int32_t>(event);
	Thread *const known = threads.find(tid);
	Thread &thread = known && known->born == started ? *known : threads.add(tid);
	thread.tgid = kind.field[2].get<std::int32_t>(event);
	thread.name = kind.field[3].get<std::string_view>(event);
	thread.born = started;
	thread.hidden = flags & EDC_ROW_HIDDEN;
	return thread;
}

void StatisticsReplay::on_thread(const EventKind &kind, const trace::Event &event, const Target &to)
{
	if (period_.rows.size() >= max_rows)
		return;
	Thread &thread = thread_of(kind, event, to.threads);
	const auto flags = kind.field[0].get<std::uint32_t>(event);
	thread.introduced = thread.has_run = true;
	thread.is_kernel = flags & EDC_ROW_KERNEL;
	thread.filtered = flags & EDC_ROW_FILTERED;
	thread.in_tree |= (flags & EDC_ROW_IN_COMMAND) != 0;
	move_to_cgroup(thread, kind.field[5].get(event), period_.begin, to.threads, to.times);
	period_.rows.push_back(&thread);
	const std::uint64_t waiting = kind.field[6].get(event), blocked = kind.field[7].get(event);
	thread.so_far.waiting += waiting;
	thread.so_far.blocked += blocked;
	if (period_.is_counted) {
		thread.usage.waiting += waiting;
		thread.usage.blocked += blocked;
	}
}

void StatisticsReplay::on_usage(const EventKind &kind, const trace::Event &event) const
{
	if (period_.rows.empty())
		return;
	Thread &thread = *period_.rows.back();
	Usage usage;
	for (std::size_t mode = 0; mode < modes; ++mode)
		usage.ticks[mode] = kind.field[mode].get(event);
	thread.so_far.cpu += usage.cpu();
	if (period_.is_counted)
		thread.usage += usage;
}

void StatisticsReplay::on_counts(const EventKind &kind, const trace::Event &event) const
{
	if (period_.rows.empty() || !period_.is_counted)
		return;
	Usage usage;
	read_figures(kind, event, 0,
		     {&usage.voluntary, &usage.involuntary, &usage.migrations, &usage.syscalls, &usage.minor_faults,
		      &usage.major_faults});
	period_.rows.back()->usage += usage;
}

void StatisticsReplay::on_throttled(std::uint64_t ticks) const
{
	if (period_.rows.empty())
		return;
	Thread &thread = *period_.rows.back();
	thread.so_far.waiting += ticks;
	if (period_.is_counted)
		thread.usage.throttled += ticks;
}

void StatisticsReplay::on_sum(const EventKind &kind, const trace::Event &event, const ThreadTable &threads)
{
	const auto row_at = [&](std::uint32_t row) { return row < period_.rows.size() ? period_.rows[row] : nullptr; };
	const Thread *const owner = row_at(kind.field[1].get<std::uint32_t>(event));
	if (!period_.is_counted || !owner || !threads.is_selected(*owner))
		return;
	period_.owner = owner;
	period_.kind = kind.kind;
	const bool are_calls = kind.kind == EventMeaning::statistics_calls;
	const trace::FieldRef &abi = kind.field[are_calls ? 6 : 7];
	period_.call = !are_calls && kind.field[0].get<std::uint32_t>(event) == EDC_NO_SYSCALL
			   ? EDC_NO_SYSCALL
			   : call_of(kind.field[0], abi, event);
	period_.waker = {};
	Summed &summed = period_.summed = {};
	if (are_calls)
		return read_figures(kind, event, 2, {&summed.count, &summed.failed, &summed.total, &summed.longest});
	period_.waker.thread = row_at(kind.field[2].get<std::uint32_t>(event));
	const auto irq = kind.field[3].get<std::uint32_t>(event);
	if (irq != EDC_NO_IRQ && EventKinds::is_interrupt_kind(interrupt_kind(irq))) {
		period_.waker.interrupt = static_cast<std::int32_t>(interrupt_kind(irq));
		period_.waker.number = irq & 0xffff;
	}
	read_figures(kind, event, 4, {&summed.count, &summed.total, &summed.longest});
}

void StatisticsReplay::on_activities(const EventKind &kind, const trace::Event &event, const ThreadTable &threads)
{
	if (!period_.is_counted)
		return;
	periods_.activities += kind.field[3].get(event);
	const auto row = kind.field[1].get<std::uint32_t>(event);
	const Thread *const owner = row < period_.rows.size() ? period_.rows[row] : nullptr;
	if (!owner || !threads.is_selected(*owner))
		return;
	period_.owner = owner;
	period_.kind = kind.kind;
	period_.call = kind.field[0].get<std::uint32_t>(event);
	period_.caller = kind.field[2].get<std::uint32_t>(event);
	Summed &summed = period_.summed = {};
	read_figures(kind, event, 3, {&summed.count, &summed.left, &summed.total, &summed.exclusive, &summed.longest});
}

// Continues the sum before.
void StatisticsReplay::on_sum_continued(const EventKind &kind, const trace::Event &event)
{
	Summed &summed = period_.summed;
	if (kind.kind == EventMeaning::statistics_inclusive)
		read_figures(kind, event, 0, {&summed.inclusive, &summed.cpu, &summed.waiting, &summed.blocked});
	else
		read_figures(kind, event, 0, {&summed.transfers, &summed.transfer_total, &summed.transfer_longest});
}

// Activities open at the end of a period end in a later one.
void StatisticsReplay::on_open(const EventKind &kind, const trace::Event &event)
{
	if (!period_.is_counted)
		return;
	periods_.open = kind.field[0].get(event);
	periods_.unpaired_begins += kind.field[1].get(event);
	periods_.unpaired_ends += kind.field[2].get(event);
}

void StatisticsReplay::on_buckets(const EventKind &kind, const trace::Event &event)
{
	const auto first = kind.field[0].get<std::size_t>(event);
	if (!period_.owner || first + 4 > CoarseHistogram::max_buckets)
		return;
	for (std::size_t i = 0; i < 4; ++i)
		if (const std::uint64_t count = kind.field[1 + i].get(event))
			period_.summed.lengths.emplace_back(CoarseHistogram::last_of(first + i), count);
}

void StatisticsReplay::deliver_sum(const Target &to)
{
	if (!period_.owner)
		return;
	const Thread &owner = *std::exchange(period_.owner, nullptr);
	for (Observer *observer : to.observers)
		if (period_.kind == EventMeaning::statistics_sleeps)
			observer->sleeps(owner, period_.call, period_.waker, period_.summed);
		else if (period_.kind == EventMeaning::statistics_activities)
			observer->activities(owner, period_.call, period_.caller, period_.summed);
		else
			observer->system_calls(owner, period_.call, period_.summed);
}

void StatisticsReplay::separate(const ThreadTable::Copies &copies)
{
	for (Thread *&row : period_.rows)
		row = copies.at(row);
	period_.owner = copies.at(period_.owner);
	period_.waker.thread = copies.at(period_.waker.thread);
	for (auto &[key, sum] : sums_)
		sum = copies.at(sum);
}

} // namespace monitor::analyze
