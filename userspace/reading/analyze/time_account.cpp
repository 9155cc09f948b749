// SPDX-License-Identifier: MIT
#include "time_account.h"

#include <utility>

namespace monitor::analyze {

TimeAccount::TimeAccount(std::shared_ptr<const FoldSettings> settings, trace::TimeRange attached)
    : settings_(std::move(settings)), first_(attached.from), last_(attached.to),
      begin_(std::max(first_, std::min(settings_->scope.range.from, last_)))
{
	set_last(last_);
}

void TimeAccount::set_last(std::uint64_t time)
{
	const std::uint64_t to = settings_->scope.range.to;
	last_ = time;
	end_ = to < last_ ? std::max(begin_, to + 1) : last_;
}

void TimeAccount::begin_at(std::uint64_t time)
{
	first_ = time;
	begin_ = std::max(begin_, std::min(time, end_));
	for (Cpu &cpu : cpus_)
		cpu.accounted = std::max(cpu.accounted, first_);
}

void TimeAccount::add_cpus(std::uint32_t number)
{
	while (cpus_.size() <= number) {
		Cpu added;
		added.number = static_cast<std::uint32_t>(cpus_.size());
		added.accounted = first_;
		added.selected = settings_->scope.includes_cpu(added.number);
		cpus_.push_back(added);
	}
}

// The mode of a running thread.
Mode TimeAccount::mode_of(const Thread &thread) const
{
	if (thread.hidden)
		return Mode::unknown;
	if (thread.filtered && !thread.is_kernel)
		return Mode::unattributed; // only its switches have tokens
	switch (thread.ring) {
	case Ring::user:
		return settings_->brackets_user ? Mode::user : Mode::unattributed;
	case Ring::system_call:
	case Ring::kernel: // a user thread leaves the kernel through the exit of a system call
		return settings_->brackets_calls || thread.is_kernel ? Mode::kernel : Mode::unattributed;
	case Ring::within:
		return Mode::kernel;
	case Ring::fault:
		return Mode::kernel; // provisional: corrected by fault_ticks if the fault does not complete
	case Ring::unknown:
		break;
	}
	return thread.is_kernel ? Mode::kernel : settings_->brackets_user ? Mode::unknown : Mode::unattributed;
}

Mode TimeAccount::mode_on(const Cpu &cpu) const
{
	if (!cpu.interrupts.empty())
		return EventKinds::is_softirq(cpu.interrupts.back() >> 16) ? Mode::softirq : Mode::irq;
	return mode_of(*cpu.current);
}

void TimeAccount::add_unknown_runner(Cpu &cpu, std::uint64_t ticks)
{
	cpu.usage[Mode::unknown] += ticks;
	cpu.runner_unknown += ticks;
}

void TimeAccount::found(Thread &thread, Cpu &cpu)
{
	const Ticks before = std::exchange(cpu.before_first, {});
	if (thread.tid != 0)
		ran(thread, cpu, Mode::unknown, before);
	(thread.tid == 0 ? cpu.idle : cpu.usage[Mode::unknown]) += before.within;
	for (TimeObserver *observer : observers_)
		observer->found(cpu, thread);
}

void TimeAccount::leave_unfound(Cpu &cpu) const
{
	add_unknown_runner(cpu, std::exchange(cpu.before_first, {}).within);
	const std::uint64_t at = std::clamp(cpu.accounted, begin_, std::max(begin_, end_));
	for (TimeObserver *observer : observers_)
		observer->lost(cpu, at, at);
}

void TimeAccount::skip(Cpu &cpu, std::uint64_t to)
{
	if (cpu.accounted < to)
		add_unknown_runner(cpu, divide(std::exchange(cpu.accounted, to), to).within);
}

Ticks TimeAccount::divide(std::uint64_t from, std::uint64_t to) const
{
	const std::uint64_t begin = std::clamp(begin_, from, to), end = std::clamp(end_, begin, to);
	return {begin - from, end - begin, to - end};
}

void TimeAccount::ran(Thread &thread, const Cpu &cpu, Mode mode, const Ticks &ticks)
{
	thread.usage[mode] += cpu.selected ? ticks.within : 0;
	thread.so_far.cpu += ticks.all();
}

void TimeAccount::waited(Thread &thread, std::uint64_t from, std::uint64_t to, bool is_throttled) const
{
	const Ticks waited = divide(from, std::max(from, to));
	for (TimeObserver *observer : observers_)
		if (waited.within && is_throttled)
			observer->throttled(thread, std::max(from, begin_), std::min(to, end_));
		else if (waited.within)
			observer->waited(thread, std::max(from, begin_), std::min(to, end_));
	add_interval(thread, is_throttled ? &Usage::throttled : &Usage::waiting, from, std::max(from, to));
	thread.so_far.waiting += waited.all();
}

void TimeAccount::slept(Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &waker) const
{
	const Ticks asleep = divide(from, to);
	add_interval(thread, &Usage::blocked, from, to);
	thread.so_far.blocked += asleep.all();
	if (asleep.within)
		for (TimeObserver *observer : observers_)
			observer->slept(thread, std::max(from, begin_), std::min(to, end_), waker,
					to <= end_ && !is_finishing_);
}

// Also divides a wait or a sleep among the cgroups that the thread left during it.
void TimeAccount::add_interval(Thread &thread, std::uint64_t Usage::*figure, std::uint64_t from, std::uint64_t to) const
{
	thread.usage.*figure += divide(from, to).within;
	for (auto stay = thread.left.rbegin(); stay != thread.left.rend() && stay->until > from; ++stay)
		stay->so_far.*figure += divide(from, std::min(stay->until, to)).within;
}

void TimeAccount::move(Thread &thread, std::uint64_t before, std::uint64_t cgroup, std::uint64_t time)
{
	thread.cgroup = cgroup;
	if (before == cgroup)
		return;
	if (is_followed(time) && thread.cpu < cpus_.size() && cpus_[thread.cpu].current == &thread)
		account(cpus_[thread.cpu], time);
	if (before != 0 || !thread.usage.is_empty())
		thread.left.push_back({before, time, thread.usage});
}

void TimeAccount::notify_lost(const Cpu &cpu, std::uint64_t from, std::uint64_t to) const
{
	from = std::max(from, begin_);
	to = std::min(to, end_);
	if (from >= to)
		return;
	for (TimeObserver *observer : observers_)
		observer->lost(cpu, from, to);
}

void TimeAccount::notify_spent(const Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode mode, bool is_idle) const
{
	from = std::max(from, begin_);
	to = std::min(to, end_);
	if (from >= to)
		return;
	for (TimeObserver *observer : observers_)
		observer->spent(cpu, from, to, mode, is_idle);
}

void TimeAccount::notify_moved(const Cpu &cpu, Mode from, Mode to, std::uint64_t ticks) const
{
	for (TimeObserver *observer : observers_)
		observer->moved(cpu, from, to, ticks);
}

void TimeAccount::account(Cpu &cpu, std::uint64_t time)
{
	time = std::min(time, last_);
	if (time <= cpu.accounted)
		return;
	std::uint64_t from = std::exchange(cpu.accounted, time);
	if (cpu.gap_until > from) {
		const std::uint64_t until = std::min(time, cpu.gap_until);
		add_unknown_runner(cpu, divide(from, until).within);
		notify_lost(cpu, from, until);
		from = until;
	}
	const Ticks passed = divide(from, time);
	if (cpu.is_offline) {
		cpu.offline += passed.within;
		from = std::max(from, begin_);
		for (TimeObserver *observer : observers_)
			if (from < std::min(time, end_))
				observer->offline(cpu, from, std::min(time, end_));
		return;
	}
	if (!cpu.current) {
		cpu.before_first += passed;
		notify_spent(cpu, from, time, Mode::unknown, false);
		return;
	}
	Thread &thread = *cpu.current;
	const Mode mode = mode_on(cpu);
	notify_spent(cpu, from, time, mode, thread.tid == 0 && mode == Mode::kernel);
	if (mode == Mode::kernel && thread.ring == Ring::fault)
		cpu.fault_ticks += passed.within;
	if (thread.tid == 0 && mode == Mode::kernel) {
		cpu.idle += passed.within;
		return;
	}
	if (thread.hidden) // another thread may have replaced it unseen
		cpu.runner_unknown += passed.within;
	else
		ran(thread, cpu, mode, passed);
	cpu.usage[mode] += passed.within;
	if (mode == Mode::user)
		cpu.user_ticks += passed;
	else if (mode == Mode::unknown)
		cpu.unknown_ticks += passed.within;
}

void TimeAccount::fault_never_completed(Thread &thread, Cpu &cpu) const
{
	const std::uint64_t kernel_ticks = std::min(cpu.fault_ticks, cpu.usage[Mode::kernel]);
	if (cpu.selected) {
		thread.usage[Mode::kernel] -= std::min(cpu.fault_ticks, thread.usage[Mode::kernel]);
		thread.usage[Mode::unattributed] += cpu.fault_ticks;
	}
	cpu.usage[Mode::kernel] -= kernel_ticks;
	cpu.usage[Mode::unattributed] += cpu.fault_ticks;
	notify_moved(cpu, Mode::kernel, Mode::unattributed, kernel_ticks);
	cpu.fault_ticks = 0;
}

void TimeAccount::was_in_kernel(Thread &thread, Cpu &cpu) const
{
	const std::uint64_t ticks = std::exchange(cpu.unknown_ticks, 0);
	cpu.usage[Mode::unknown] -= ticks;
	cpu.usage[Mode::kernel] += ticks;
	notify_moved(cpu, Mode::unknown, Mode::kernel, ticks);
	if (cpu.selected) {
		thread.usage[Mode::unknown] -= ticks;
		thread.usage[Mode::kernel] += ticks;
	}
}

void TimeAccount::unattribute_edge(Thread &thread, Cpu &cpu, std::uint64_t edge_ticks) const
{
	const std::uint64_t edge = cpu.user_ticks.within_last(edge_ticks);
	cpu.usage[Mode::user] -= edge;
	cpu.usage[Mode::unattributed] += edge;
	notify_moved(cpu, Mode::user, Mode::unattributed, edge);
	if (cpu.selected && thread.usage[Mode::user] >= edge) {
		thread.usage[Mode::user] -= edge;
		thread.usage[Mode::unattributed] += edge;
	}
	cpu.user_ticks = {};
}

void TimeAccount::end_window(std::uint64_t time, ThreadTable &threads, const Throttles &throttles)
{
	end_ = std::max(time, begin_);
	for (Cpu &cpu : cpus_) {
		account(cpu, end_);
		add_unknown_runner(cpu, cpu.before_first.within);
	}
	for (Thread &thread : threads.all()) {
		if (!threads.is_known(thread))
			continue;
		const std::uint64_t from = std::max(thread.since, first_);
		if (thread.state == State::runnable || thread.state == State::throttled)
			throttles.divide(
			    thread, threads.cgroup_of(thread), from, std::max(from, end_),
			    [&](std::uint64_t since, std::uint64_t to, bool is_throttled) {
				    add_interval(thread, is_throttled ? &Usage::throttled : &Usage::waiting, since, to);
			    });
		else if (thread.state == State::blocked)
			add_interval(thread, &Usage::blocked, from, std::max(from, end_));
	}
}

void TimeAccount::begin_window(ThreadTable &threads)
{
	begin_ = end_;
	end_ = last_;
	for (Cpu &cpu : cpus_) {
		cpu.usage = {};
		cpu.idle = cpu.offline = cpu.runner_unknown = cpu.fault_ticks = cpu.unknown_ticks = 0;
		cpu.user_ticks.leave();
		cpu.before_first.leave();
	}
	for (Thread &thread : threads.all()) {
		thread.usage = {};
		thread.left.clear();
	}
}

void TimeAccount::finish()
{
	is_finishing_ = true;
	for (Cpu &cpu : cpus_) {
		if (settings_->is_complete) {
			account(cpu, last_);
		} else if (cpu.accounted < last_) { // killed recording: what followed the last token was not written
			notify_lost(cpu, cpu.accounted, last_);
			skip(cpu, last_);
		}
		add_unknown_runner(cpu, cpu.before_first.within);
	}
}

void TimeAccount::separate(const ThreadTable::Copies &copies)
{
	observers_.clear();
	for (Cpu &cpu : cpus_)
		cpu.current = copies.at(cpu.current);
}

} // namespace monitor::analyze
