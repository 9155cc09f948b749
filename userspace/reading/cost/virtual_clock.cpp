// SPDX-License-Identifier: MIT
#include "virtual_clock.h"

#include <algorithm>
#include <utility>

namespace monitor::cost {

VirtualClock::Cpu &VirtualClock::cpu(std::uint32_t number)
{
	while (cpus_.size() <= number)
		cpus_.emplace_back().time = begin_;
	return cpus_[number];
}

VirtualClock::Thread VirtualClock::add(std::uint32_t tree, bool is_recorder)
{
	ThreadState &thread = threads_.emplace_back();
	thread.tree = tree;
	thread.is_recorder = is_recorder;
	thread.now = begin_;
	return static_cast<Thread>(threads_.size() - 1);
}

void VirtualClock::begin_as(Thread thread, State state)
{
	threads_[thread].state = state;
	threads_[thread].since = begin_;
}

// The CPU's totals at `time`, which is not before its last event.
VirtualClock::CpuTotals VirtualClock::totals_at(const Cpu &cpu, double time) const
{
	const double since = std::max(0.0, time - cpu.time);
	const double stopped = runs_recorder(cpu) ? since : std::min(since, cpu.owed);
	return {cpu.totals.stopped + stopped, cpu.totals.idle + (cpu.current == idle ? since - stopped : 0)};
}

void VirtualClock::note_totals(TaskState &task, double time) const
{
	task.since = time;
	task.is_lost = false;
	task.totals_then.resize(cpus_.size());
	std::ranges::transform(cpus_, task.totals_then.begin(), [&](const Cpu &cpu) { return totals_at(cpu, time); });
}

void VirtualClock::found(std::uint32_t number, Thread id)
{
	Cpu &on = cpu(number);
	const Thread before = std::exchange(on.current, id);
	const bool is_first = before == unknown;
	if (id >= threads_.size())
		return;
	ThreadState &thread = threads_[id];
	if (thread.is_lost && (thread.state == State::ready || thread.state == State::blocked))
		return enter(number, on, thread); // in the gap
	thread.state = State::running;
	thread.now = std::max(thread.now, on.time - on.totals.stopped);
	if (is_first)
		thread.removed.running += thread.is_recorder ? on.time - begin_ : on.totals.stopped;
}

void VirtualClock::event(std::uint32_t number, double time, const ProbeTime &probe)
{
	Cpu &on = cpu(number);
	const double passed = std::max(0.0, time - on.time);
	const bool is_recorder = runs_recorder(on);
	on.owed += probe.before;
	const double stopped = is_recorder ? passed : std::min(passed, on.owed);
	on.owed -= std::min(on.owed, stopped);
	on.before = std::min(probe.before, stopped);
	on.totals.stopped += stopped;
	if (on.current == idle)
		on.totals.idle += passed - stopped;
	on.time = std::max(on.time, time);
	on.owed += on.after = probe.after;
	if (on.current >= threads_.size())
		return;
	ThreadState &thread = threads_[on.current];
	thread.removed.running += stopped;
	thread.now += passed - stopped;
}

void VirtualClock::leave(Cpu &on, ThreadState &thread, bool remains_ready)
{
	if (thread.tree != no_tree)
		on.left[thread.tree] = {on.time, thread.now, on.totals};
	const bool did_not_sleep = std::exchange(thread.woken_early, false);
	if (!remains_ready && did_not_sleep) {
		const double virtual_time = std::max(thread.now, thread.early_waker);
		thread.removed.blocked -= virtual_time - thread.now; // as long as it would have slept
		thread.now = virtual_time;
	}
	thread.state = remains_ready || did_not_sleep ? State::ready : State::blocked;
	thread.waking_after = 0;
	note_totals(thread, on.time);
}

void VirtualClock::enter(std::uint32_t number, Cpu &on, ThreadState &thread)
{
	const auto found = on.left.find(thread.tree);
	const Left *left = thread.tree != no_tree && found != on.left.end() ? &found->second : nullptr;
	const double own = on.time - on.totals.stopped;
	if (thread.state != State::ready && thread.state != State::blocked) {
		thread.now = left ? std::max(left->now, own) : own;
	} else {
		// A sleeper without a seen wake-up slept until now, as measured.
		const bool was_ready = thread.state == State::ready;
		double base = thread.now, from = thread.since, stood_still = 0;
		if (was_ready) {
			const bool was_behind = left && left->time >= thread.since; // a thread of the same tree
			const CpuTotals then = was_behind                           ? left->totals
					       : number < thread.totals_then.size() ? thread.totals_then[number]
										    : CpuTotals();
			if (was_behind) {
				base = std::max(base, left->now);
				from = left->time;
			}
			stood_still = on.totals.stopped - then.stopped;
			const double idle_since = on.totals.idle - then.idle;
			thread.waited_for_others += std::max(0.0, on.time - from - stood_still - idle_since);
			if (!was_behind && thread.woken_on != number)
				stood_still += thread.waking_after;
		}
		double now = base + std::max(0.0, on.time - from - stood_still);
		if (left)
			now = std::max(now, left->now);
		remove(was_ready ? thread.removed.waiting : thread.removed.blocked, thread,
		       on.time - thread.since - (now - thread.now));
		thread.now = now;
	}
	thread.state = State::running;
	thread.woken_early = false;
	thread.is_lost = false;
}

// The fold does not count a state during which there was a gap, so nothing can be removed from it.
void VirtualClock::remove(double &of_state, const ThreadState &thread, double ticks)
{
	of_state += thread.is_lost ? 0 : ticks;
}

void VirtualClock::lost(std::uint32_t number)
{
	Cpu &on = cpu(number);
	if (runs_recorder(on)) // the recorder may leave the CPU before the next event
		on.current = in_gap;
	for (ThreadState &thread : threads_)
		thread.is_lost = true;
}

void VirtualClock::switched(std::uint32_t number, bool remains_ready, Thread next)
{
	Cpu &on = cpu(number);
	if (on.current < threads_.size())
		leave(on, threads_[on.current], remains_ready);
	on.owed = std::min(on.owed, on.after); // the rest is owed by the thread before
	on.current = next;
	on.run_begin = on.totals.stopped;
	if (next < threads_.size())
		enter(number, on, threads_[next]);
}

void VirtualClock::interrupted(std::uint32_t number)
{
	Cpu &on = cpu(number);
	on.interrupt_at = on.totals.stopped - on.before;
}

void VirtualClock::become_ready(std::uint32_t number, const Cpu &on, ThreadState &thread, double virtual_time)
{
	thread.now = virtual_time;
	thread.state = State::ready;
	thread.waking_after = on.after;
	thread.woken_on = number;
	note_totals(thread, on.time);
}

void VirtualClock::woke(std::uint32_t number, Thread woken, bool from_outside)
{
	Cpu &on = cpu(number);
	ThreadState &thread = threads_[woken];
	const ThreadState *waker = !from_outside && on.current < threads_.size() ? &threads_[on.current] : nullptr;
	const bool is_cause = waker && !waker->is_recorder && waker->tree == thread.tree && thread.tree != no_tree;
	if (thread.state == State::running) {
		thread.woken_early = true;
		thread.early_waker = is_cause ? waker->now : thread.now;
		return;
	}
	if (thread.state == State::unknown)
		return become_ready(number, on, thread, is_cause ? waker->now : on.time - on.totals.stopped);
	if (thread.state != State::blocked)
		return;
	const double slept = on.time - thread.since;
	double virtual_time = thread.now;
	if (is_cause) {
		virtual_time = std::max(virtual_time, waker->now);
	} else {
		const double then = number < thread.totals_then.size() ? thread.totals_then[number].stopped : 0;
		const double stood_still =
		    on.totals.stopped - std::max(from_outside ? on.interrupt_at : on.run_begin, then);
		virtual_time += slept - std::clamp(stood_still, 0.0, slept);
	}
	remove(thread.removed.blocked, thread, slept - (virtual_time - thread.now));
	become_ready(number, on, thread, virtual_time);
}

void VirtualClock::created(std::uint32_t number, Thread child)
{
	Cpu &on = cpu(number);
	const bool has_parent = on.current < threads_.size() && threads_[on.current].tree == threads_[child].tree;
	become_ready(number, on, threads_[child], has_parent ? threads_[on.current].now : on.time - on.totals.stopped);
}

void VirtualClock::exchange(Thread one, Thread other)
{
	std::swap(static_cast<TaskState &>(threads_[one]), static_cast<TaskState &>(threads_[other]));
	for (Cpu &each : cpus_)
		if (each.current == one || each.current == other)
			each.current = each.current == one ? other : one;
}

} // namespace monitor::cost
