// SPDX-License-Identifier: MIT
#include "virtual_times.h"

#include <algorithm>
#include <utility>

#include "monitor/card.h"

namespace monitor::cost {
namespace {

constexpr std::int32_t init_process = 1;
constexpr std::uint32_t net_tx = 2, net_rx = 3; // softirqs in the kernel

} // namespace

VirtualTimes::VirtualTimes(const ThreadFold &fold, const RecordingInfo &info, const VirtualCost &cost)
    : fold_(fold), cost_(cost), command_(static_cast<std::int32_t>(info.command_pid)),
      recorder_(static_cast<std::int32_t>(info.recorder.pid)),
      clocks_(bounds, VirtualClock(static_cast<double>(fold.window_begin())))
{
}

void VirtualTimes::begin_window()
{
	clocks_.assign(bounds, VirtualClock(static_cast<double>(fold_.window_begin())));
	clock_threads_.clear();
	recorders_.clear();
	cpus_.clear();
	command_begin_.reset();
	command_end_.reset();
}

// A process and its known descendants; the recorded command starts a tree of its own. Kernel threads serve all, so they
// are in none.
std::uint32_t VirtualTimes::tree_of(const Thread &thread) const
{
	if (thread.is_kernel)
		return VirtualClock::no_tree;
	if (thread.in_tree && command_)
		return static_cast<std::uint32_t>(command_);
	const Thread *root = &fold_.leader(thread);
	for (int up = 0; up < 100; ++up) {
		const Thread *parent = fold_.thread(root->parent);
		if (root->parent <= init_process || !parent || parent == root)
			break;
		root = &fold_.leader(*parent);
	}
	return static_cast<std::uint32_t>(std::max(root->tgid, 1));
}

VirtualClock::Thread VirtualTimes::clock_thread(const Thread &thread)
{
	if (thread.tid == 0)
		return VirtualClock::idle;
	const auto [found, is_new] = clock_threads_.try_emplace(&thread, static_cast<std::uint32_t>(recorders_.size()));
	if (!is_new)
		return found->second;
	const bool is_recorder = !thread.in_tree && (thread.tgid == recorder_ || thread.parent == recorder_);
	recorders_.push_back(is_recorder);
	const std::uint32_t tree = is_recorder ? VirtualClock::no_tree : tree_of(thread);
	for (VirtualClock &clock : clocks_)
		clock.add(tree, is_recorder);
	return found->second;
}

VirtualClock::Thread VirtualTimes::clock_thread_of(std::int32_t tid)
{
	if (tid == 0)
		return VirtualClock::idle;
	const Thread *thread = fold_.thread(tid);
	return thread ? clock_thread(*thread) : VirtualClock::unknown;
}

void VirtualTimes::exchanged(const Thread &one, const Thread &other)
{
	const VirtualClock::Thread first = clock_thread(one), second = clock_thread(other);
	for (VirtualClock &clock : clocks_)
		clock.exchange(first, second);
}

// A phase without probes (record --calibrate): with other losses there are no virtual times.
void VirtualTimes::lost(const Cpu &cpu, std::uint64_t /*from*/, std::uint64_t /*to*/)
{
	cpus_.resize(std::max<std::size_t>(cpus_.size(), cpu.number + std::size_t{1}));
	cpus_[cpu.number].after_gap = true;
	for (VirtualClock &clock : clocks_)
		clock.lost(cpu.number);
}

// The list of threads at the start: which were ready, and which slept. The fold has checked that it still applies.
void VirtualTimes::on_list(const EventKind &kind, const trace::Event &event)
{
	const Thread *thread = fold_.thread(kind.field[1].get<std::int32_t>(event));
	if (!thread || thread->tid == 0 || clock_threads_.contains(thread) || !fold_.is_known(*thread) ||
	    thread->since != fold_.window_begin())
		return;
	const bool is_ready = thread->state == State::runnable;
	if (!is_ready && thread->state != State::blocked)
		return;
	const VirtualClock::Thread number = clock_thread(*thread);
	for (VirtualClock &clock : clocks_)
		clock.begin_as(number, is_ready ? VirtualClock::State::ready : VirtualClock::State::blocked);
}

VirtualTimes::Moment VirtualTimes::moment(std::uint32_t cpu, std::uint64_t time) const
{
	Moment moment;
	moment.time = time;
	for (std::size_t i = 0; i < bounds; ++i)
		moment.now[i] = clocks_[i].now(clocks_[i].current(cpu));
	return moment;
}

void VirtualTimes::on_switch(const EventKind &kind, const trace::Event &event, std::uint32_t cpu)
{
	const auto state = kind.field[0].get<std::uint32_t>(event);
	const auto prev = clock_thread_of(kind.field[1].get<std::int32_t>(event));
	const auto next_tid = kind.field[2].get<std::int32_t>(event);
	const auto next = clock_thread_of(next_tid);
	const bool remains_ready = state == 0 || state == EDC_STATE_PREEMPTED;
	if (prev == VirtualClock::idle)
		cpus_[cpu].idle_until = event.time;
	for (VirtualClock &clock : clocks_) {
		if (clock.current(cpu) != prev)
			clock.found(cpu, prev);
		clock.switched(cpu, remains_ready, next);
	}
	if (next_tid == command_ && command_ && !command_begin_)
		command_begin_ = moment(cpu, event.time);
}

// A softirq after an interrupt was raised by it; one of the network may also be due to what the running thread sends
// over the loopback.
void VirtualTimes::on_softirq(const EventKind &kind, const trace::Event &event, std::uint32_t cpu)
{
	const auto vector = kind.field[0].get<std::uint32_t>(event);
	const bool may_be_own =
	    (vector == net_tx || vector == net_rx) && clocks_.front().current(cpu) != VirtualClock::idle;
	cpus_[cpu].softirq_from_interrupt = !may_be_own || cpus_[cpu].after_interrupt;
}

bool VirtualTimes::is_from_outside(const Cpu &cpu)
{
	if (cpu.interrupts.empty())
		return false;
	const bool only_softirqs = std::ranges::all_of(
	    cpu.interrupts, [&](std::uint32_t each) { return fold_.kinds().is_softirq(each >> 16); });
	return !only_softirqs || cpus_[cpu.number].softirq_from_interrupt;
}

ProbeTime VirtualTimes::cost_of(const trace::Event &event, std::uint32_t cpu, Bound bound) const
{
	if (event.cls->id >= cost_.by_class.size())
		return {};
	const ProbeTime cost = cost_.by_class[event.cls->id][static_cast<std::size_t>(bound)];
	const std::uint64_t idle_until = cpus_[cpu].idle_until;
	const bool is_cold = clocks_.front().current(cpu) == VirtualClock::idle ||
			     (idle_until && event.time - idle_until <= cost_.after_idle_ticks);
	if (bound != Bound::high || !is_cold)
		return cost;
	return {cost.before * cost_.after_idle, cost.after * cost_.after_idle};
}

void VirtualTimes::event(const trace::Event &event)
{
	const EventKind &kind = fold_.kinds()[*event.cls];
	if (kind.kind == EventMeaning::thread_state)
		return on_list(kind, event);
	if (event.stream->is_user() || event.stream->is_recorder() || !event.has_cpu() ||
	    event.time < fold_.window_begin() || event.time > fold_.window_end())
		return;
	const std::uint32_t cpu = event.cpu();
	cpus_.resize(std::max<std::size_t>(cpus_.size(), cpu + std::size_t{1}));
	const Cpu &now = fold_.cpus()[cpu];
	for (std::size_t i = 0; i < bounds; ++i)
		clocks_[i].event(cpu, static_cast<double>(event.time), cost_of(event, cpu, static_cast<Bound>(i)));
	if (kind.kind == EventMeaning::sched_switch) {
		cpus_[cpu].after_interrupt = false;
		return on_switch(kind, event, cpu);
	}
	if (now.current &&
	    (clocks_.front().current(cpu) == VirtualClock::unknown || std::exchange(cpus_[cpu].after_gap, false))) {
		const VirtualClock::Thread found = clock_thread(*now.current);
		for (VirtualClock &clock : clocks_)
			if (clock.current(cpu) != found)
				clock.found(cpu, found);
	}
	const bool is_entry = kind.kind == EventMeaning::interrupt_entry || kind.kind == EventMeaning::timer_entry;
	if (is_entry && fold_.kinds().is_softirq(kind.interrupt))
		on_softirq(kind, event, cpu);
	cpus_[cpu].after_interrupt = kind.kind == EventMeaning::interrupt_exit &&
				     (!fold_.kinds().is_softirq(kind.interrupt) || cpus_[cpu].softirq_from_interrupt);
	switch (kind.kind) {
	case EventMeaning::interrupt_entry:
	case EventMeaning::timer_entry:
		if (now.interrupts.size() == 1)
			for (VirtualClock &clock : clocks_)
				clock.interrupted(cpu);
		return;
	case EventMeaning::sched_waking:
		if (const auto woken = clock_thread_of(kind.field[0].get<std::int32_t>(event));
		    woken < recorders_.size())
			for (VirtualClock &clock : clocks_)
				clock.woke(cpu, woken, is_from_outside(now));
		return;
	case EventMeaning::sched_wakeup_new:
		if (const auto child = clock_thread_of(kind.field[0].get<std::int32_t>(event));
		    child < recorders_.size())
			for (VirtualClock &clock : clocks_)
				clock.created(cpu, child);
		return;
	case EventMeaning::sched_process_exit:
		if (command_ && command_begin_ && !command_end_ && kind.field[0].get<std::int32_t>(event) == command_ &&
		    now.current && now.current->tid == command_)
			command_end_ = moment(cpu, event.time);
		return;
	default:
		return;
	}
}

RemovedTimes VirtualTimes::removed(const Thread &thread, Bound bound) const
{
	const auto found = clock_threads_.find(&thread);
	return found == clock_threads_.end() ? RemovedTimes()
					     : clocks_[static_cast<std::size_t>(bound)].removed(found->second);
}

double VirtualTimes::waited_for_others(const Thread &thread) const
{
	const auto found = clock_threads_.find(&thread);
	return found == clock_threads_.end()
		   ? 0
		   : clocks_[static_cast<std::size_t>(Bound::middle)].waited_for_others(found->second);
}

bool VirtualTimes::is_recorder(const Thread &thread) const
{
	const auto found = clock_threads_.find(&thread);
	return found != clock_threads_.end() && recorders_[found->second];
}

std::optional<VirtualElapsed> VirtualTimes::elapsed() const
{
	if (!command_begin_ || !command_end_)
		return {};
	VirtualElapsed result;
	result.measured = static_cast<double>(command_end_->time - command_begin_->time);
	for (std::size_t i = 0; i < bounds; ++i)
		result.compensated[i] = command_end_->now[i] - command_begin_->now[i];
	return result;
}

} // namespace monitor::cost
