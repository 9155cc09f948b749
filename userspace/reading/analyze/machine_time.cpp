// SPDX-License-Identifier: MIT
// How Machine adds up times: what of them is within the scope, and whose they are. See machine.h for the rules.
#include <algorithm>
#include <utility>

#include "machine.h"

namespace monitor::analyze {

Mode Machine::mode_of(const Thread &thread) const
{
	if (thread.hidden)
		return Mode::unknown;
	if (thread.filtered && !thread.is_kernel)
		return Mode::unattributed; // only its switches have tokens
	switch (thread.ring) {
	case Ring::user:
		return user_bracketed_ ? Mode::user : Mode::unattributed;
	case Ring::system_call:
	case Ring::kernel: // a user thread leaves the kernel through the exit of a system call
		return calls_bracketed_ || thread.is_kernel ? Mode::kernel : Mode::unattributed;
	case Ring::within:
		return Mode::kernel;
	case Ring::fault:
		return Mode::kernel; // provisional: fault_ticks moves it if no completion follows
	case Ring::unknown:
		break;
	}
	return thread.is_kernel ? Mode::kernel : user_bracketed_ ? Mode::unknown : Mode::unattributed;
}

Mode Machine::mode_on(const Cpu &cpu) const
{
	if (!cpu.interrupts.empty())
		return kinds_.is_softirq(cpu.interrupts.back() >> 16) ? Mode::softirq : Mode::irq;
	return mode_of(*cpu.current);
}

void Machine::add_unknown_runner(Cpu &cpu, std::uint64_t ticks)
{
	cpu.usage[Mode::unknown] += ticks;
	cpu.runner_unknown += ticks;
}

// Nobody will be found to have had the CPU in the time without a thread so far.
void Machine::leave_unfound(Cpu &cpu) const
{
	add_unknown_runner(cpu, std::exchange(cpu.before_first, {}).within);
	const std::uint64_t at = std::clamp(cpu.accounted, begin_, std::max(begin_, end_));
	for (TimeObserver *observer : time_observers_)
		observer->lost(cpu, at, at);
}

Ticks Machine::ticks(std::uint64_t from, std::uint64_t to) const
{
	const std::uint64_t begin = std::clamp(begin_, from, to), end = std::clamp(end_, begin, to);
	return {begin - from, end - begin, to - end};
}

std::uint64_t Machine::idle_ticks(const Cpu &cpu) const
{
	const Thread *thread = idle_[cpu.number];
	return cpu.idle + (thread ? thread->usage.cpu() : 0);
}

void Machine::ran(Thread &thread, const Cpu &cpu, Mode mode, const Ticks &ticks)
{
	thread.usage[mode] += cpu.selected ? ticks.within : 0;
	thread.so_far.cpu += ticks.all();
}

void Machine::waited(Thread &thread, std::uint64_t from, std::uint64_t to) const
{
	const Ticks waited = ticks(from, std::max(from, to));
	if (waited.within)
		for (TimeObserver *observer : time_observers_)
			observer->waited(thread, std::max(from, begin_), std::min(to, end_));
	add_interval(thread, &Usage::waiting, from, std::max(from, to));
	thread.so_far.waiting += waited.all();
}

// Of a wait or a sleep, the cgroups that the thread left in that time have their parts.
void Machine::add_interval(Thread &thread, std::uint64_t Usage::*figure, std::uint64_t from, std::uint64_t to) const
{
	thread.usage.*figure += ticks(from, to).within;
	for (auto stay = thread.left.rbegin(); stay != thread.left.rend() && stay->until > from; ++stay)
		stay->so_far.*figure += ticks(from, std::min(stay->until, to)).within;
}

void Machine::tell_lost(const Cpu &cpu, std::uint64_t from, std::uint64_t to) const
{
	from = std::max(from, begin_);
	to = std::min(to, end_);
	if (from >= to)
		return;
	for (TimeObserver *observer : time_observers_)
		observer->lost(cpu, from, to);
}

void Machine::tell_spent(const Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode mode, bool is_idle) const
{
	from = std::max(from, begin_);
	to = std::min(to, end_);
	if (from >= to)
		return;
	for (TimeObserver *observer : time_observers_)
		observer->spent(cpu, from, to, mode, is_idle);
}

void Machine::tell_found(const Cpu &cpu, const Thread &thread) const
{
	for (TimeObserver *observer : time_observers_)
		observer->found(cpu, thread);
}

void Machine::tell_moved(const Cpu &cpu, Mode from, Mode to, std::uint64_t ticks) const
{
	for (TimeObserver *observer : time_observers_)
		observer->moved(cpu, from, to, ticks);
}

void Machine::account(Cpu &cpu, std::uint64_t time)
{
	time = std::min(time, last_);
	if (time <= cpu.accounted)
		return;
	std::uint64_t from = std::exchange(cpu.accounted, time);
	if (cpu.gap_until > from) {
		const std::uint64_t until = std::min(time, cpu.gap_until);
		add_unknown_runner(cpu, ticks(from, until).within);
		tell_lost(cpu, from, until);
		from = until;
	}
	const Ticks passed = ticks(from, time);
	if (cpu.is_offline) {
		cpu.offline += passed.within;
		from = std::max(from, begin_);
		for (TimeObserver *observer : time_observers_)
			if (from < std::min(time, end_))
				observer->offline(cpu, from, std::min(time, end_));
		return;
	}
	if (!cpu.current) {
		cpu.before_first += passed;
		tell_spent(cpu, from, time, Mode::unknown, false);
		return;
	}
	Thread &thread = *cpu.current;
	const Mode mode = mode_on(cpu);
	tell_spent(cpu, from, time, mode, thread.tid == 0 && mode == Mode::kernel);
	if (mode == Mode::kernel && thread.ring == Ring::fault)
		cpu.fault_ticks += passed.within;
	if (thread.tid == 0 && mode == Mode::kernel) {
		cpu.idle += passed.within;
		return;
	}
	if (thread.hidden) // another thread may have taken the CPU from it unseen
		cpu.runner_unknown += passed.within;
	else
		ran(thread, cpu, mode, passed);
	cpu.usage[mode] += passed.within;
	if (mode == Mode::user)
		cpu.user_ticks += passed;
	else if (mode == Mode::unknown)
		cpu.unknown_ticks += passed.within;
}

// For the time from a fault's entry, without a completion, to a token that shows the thread elsewhere: when it returned
// to user mode is unknown.
void Machine::fault_never_completed(Thread &thread, Cpu &cpu) const
{
	const std::uint64_t of_cpu = std::min(cpu.fault_ticks, cpu.usage[Mode::kernel]);
	if (cpu.selected) {
		thread.usage[Mode::kernel] -= std::min(cpu.fault_ticks, thread.usage[Mode::kernel]);
		thread.usage[Mode::unattributed] += cpu.fault_ticks;
	}
	cpu.usage[Mode::kernel] -= of_cpu;
	cpu.usage[Mode::unattributed] += cpu.fault_ticks;
	tell_moved(cpu, Mode::kernel, Mode::unattributed, of_cpu);
	cpu.fault_ticks = 0;
}

// It has been in the kernel since it was switched in: a call or a fault since then would have a token.
void Machine::was_in_kernel(Thread &thread, Cpu &cpu) const
{
	const std::uint64_t ticks = std::exchange(cpu.unknown_ticks, 0);
	cpu.usage[Mode::unknown] -= ticks;
	cpu.usage[Mode::kernel] += ticks;
	tell_moved(cpu, Mode::unknown, Mode::kernel, ticks);
	if (cpu.selected) {
		thread.usage[Mode::unknown] -= ticks;
		thread.usage[Mode::kernel] += ticks;
	}
}

// The kernel's path from the last exit to user mode, and from there to this entry's token, is outside all brackets: it
// is not user time.
void Machine::take_edge(Thread &thread, Cpu &cpu, std::uint64_t edge_ticks) const
{
	const std::uint64_t edge = cpu.user_ticks.within_last(edge_ticks);
	cpu.usage[Mode::user] -= edge;
	cpu.usage[Mode::unattributed] += edge;
	tell_moved(cpu, Mode::user, Mode::unattributed, edge);
	if (cpu.selected && thread.usage[Mode::user] >= edge) {
		thread.usage[Mode::user] -= edge;
		thread.usage[Mode::unattributed] += edge;
	}
	cpu.user_ticks = {};
}

void Machine::end_blocked(Thread &thread, std::uint64_t time, const Waker &waker)
{
	const std::uint64_t from = std::max(thread.since, first_);
	if (time <= from)
		return; // asleep for no time, or while not all probes were attached
	const Ticks asleep = ticks(from, time);
	add_interval(thread, &Usage::blocked, from, time);
	thread.so_far.blocked += asleep.all();
	if (asleep.within)
		for (TimeObserver *observer : time_observers_)
			observer->slept(thread, std::max(from, begin_), std::min(time, end_), waker,
					time <= end_ && !is_finishing_);
	if (is_selected(thread) && !thread.filtered && scope_.includes_time(time))
		for (Observer *observer : observers_)
			observer->blocked(thread, from, time, waker);
}

// Adds up what a thread that is on no CPU has done until now.
void Machine::settle(Thread &thread, std::uint64_t time)
{
	if (!is_known(thread))
		return;
	if (thread.state == State::runnable)
		waited(thread, std::max(thread.since, first_), time);
	else if (thread.state == State::blocked)
		end_blocked(thread, time, {});
}

void Machine::finish()
{
	is_counting_ = scope_.includes_time(last_);
	is_finishing_ = true;
	contradict_supposed();
	tell_summed();
	for (Cpu &cpu : cpus_) {
		if (complete_) {
			account(cpu, last_);
		} else if (cpu.accounted < last_) { // killed: what followed its last token was not written
			add_unknown_runner(cpu, ticks(cpu.accounted, last_).within);
			tell_lost(cpu, cpu.accounted, last_);
			cpu.accounted = last_;
		}
		add_unknown_runner(cpu, cpu.before_first.within);
	}
	for (Thread &thread : threads_) {
		if (thread.blocked_later)
			was_since_begin(thread, State::blocked);
		settle(thread, last_);
	}
}

} // namespace monitor::analyze
