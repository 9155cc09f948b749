// SPDX-License-Identifier: MIT
#include "machine.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace monitor::simulation {

ThreadNumber Machine::add(Thread &thread, std::uint64_t cpus_mask, int priority)
{
	CpuNumber first = 0;
	while (first + 1 < cpus_.size() && !allows(cpus_mask, first))
		++first;
	threads_.push_back({&thread, cpus_mask, priority, first});
	has_priorities_ |= priority != threads_.front().priority;
	return static_cast<ThreadNumber>(threads_.size() - 1);
}

void Machine::push(const Event &event)
{
	heap_.push_back(event);
	std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void Machine::at(Nanoseconds time, std::function<void()> happens)
{
	if (free_functions_.empty()) {
		free_functions_.push_back(static_cast<std::uint32_t>(functions_.size()));
		functions_.emplace_back();
	}
	const std::uint32_t number = free_functions_.back();
	free_functions_.pop_back();
	functions_[number] = std::move(happens);
	push({std::max(time, now_), order_++, number, false});
}

void Machine::wake(ThreadNumber thread, Nanoseconds delay)
{
	push({now_ + delay, order_++, thread, true});
}

void Machine::add_work(ThreadNumber thread, Nanoseconds work)
{
	Task &task = threads_[thread];
	task.left += work;
	if (task.state == State::running)
		set_timer(task.cpu);
}

bool Machine::run(Nanoseconds limit, std::uint64_t max_effort)
{
	for (std::uint64_t effort = 0; effort < max_effort; effort += 1 + (cpus_.size() + queued_) / 100) {
		Timer next = heap_.empty() ? Timer() : Timer{heap_.front().time, heap_.front().order};
		CpuNumber expired = ~CpuNumber(0);
		for (CpuNumber i = 0; i < timers_.size(); ++i)
			if (std::tie(timers_[i].time, timers_[i].order) < std::tie(next.time, next.order)) {
				next = timers_[i];
				expired = i;
			}
		if (next.time == never || next.time > limit)
			return true;
		now_ = next.time;
		++events_;
		if (expired < timers_.size()) {
			expire(expired);
			continue;
		}
		std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
		const Event event = heap_.back();
		heap_.pop_back();
		happen(event);
	}
	return false;
}

void Machine::happen(const Event &event)
{
	if (event.is_wake) {
		if (threads_[event.number].state == State::blocked)
			make_runnable(event.number);
		return;
	}
	const std::function<void()> happens = std::move(functions_[event.number]);
	free_functions_.push_back(event.number);
	happens();
}

void Machine::set_timer(CpuNumber number)
{
	Cpu &cpu = cpus_[number];
	account(cpu);
	Nanoseconds time = now_ + threads_[cpu.running].left;
	if (has_rival(cpu))
		time = std::clamp(cpu.slice_start + settings_.time_slice, now_, time);
	timers_[number] = {time, order_++};
}

// Its work is done, or its time slice has ended.
void Machine::expire(CpuNumber number)
{
	account(cpus_[number]);
	const ThreadNumber running = cpus_[number].running;
	if (threads_[running].left <= 0) {
		const Nanoseconds work = threads_[running].thread->next();
		threads_[running].left += work;
		if (work <= 0) {
			threads_[running].state = State::blocked;
			pick(number);
			return;
		}
	}
	Cpu &cpu = cpus_[number];
	if (now_ - cpu.slice_start < settings_.time_slice || !has_rival(cpu)) {
		set_timer(number);
		return;
	}
	threads_[running].state = State::queued;
	cpu.queue.push_back(running);
	++queued_;
	pick(number);
}

void Machine::account(Cpu &cpu)
{
	Task &task = threads_[cpu.running];
	const Nanoseconds ran = now_ - cpu.since;
	task.left -= ran;
	task.virtual_time += ran;
	task.cpu_time += ran;
	cpu.since = now_;
}

void Machine::start(CpuNumber number, ThreadNumber thread)
{
	Cpu &cpu = cpus_[number];
	Task &task = threads_[thread];
	arrive(task, number);
	cpu.floor = std::max(cpu.floor, task.virtual_time);
	cpu.running = thread;
	cpu.since = cpu.slice_start = now_;
	task.state = State::running;
	set_timer(number);
}

// Its virtual time becomes one of that CPU.
void Machine::arrive(Task &task, CpuNumber number)
{
	const Nanoseconds floor = cpus_[number].floor, lag = task.virtual_time - cpus_[task.cpu].floor;
	task.virtual_time = floor + std::max(lag, -settings_.time_slice / 2);
	task.cpu = number;
}

// The thread takes the CPU from what runs there.
void Machine::preempt(CpuNumber number, ThreadNumber thread)
{
	Cpu &cpu = cpus_[number];
	account(cpu);
	const ThreadNumber displaced = cpu.running;
	start(number, thread);
	if (const CpuNumber idle = idle_cpu(threads_[displaced]); idle < cpus_.size()) {
		start(idle, displaced);
	} else {
		threads_[displaced].state = State::queued;
		cpu.queue.insert(cpu.queue.begin(), displaced);
		++queued_;
	}
}

bool Machine::has_rival(const Cpu &cpu) const
{
	const int priority = threads_[cpu.running].priority;
	return std::ranges::any_of(cpu.queue, [&](ThreadNumber i) { return threads_[i].priority >= priority; });
}

bool Machine::has_idle_cpu(std::uint64_t cpus_mask) const
{
	for (CpuNumber i = 0; i < cpus_.size(); ++i)
		if (cpus_[i].running == nobody && allows(cpus_mask, i))
			return true;
	return false;
}

// The last one before others; none: the number of CPUs.
Machine::CpuNumber Machine::idle_cpu(const Task &task) const
{
	if (cpus_[task.cpu].running == nobody)
		return task.cpu;
	CpuNumber i = 0;
	while (i < cpus_.size() && (cpus_[i].running != nobody || !allows(task.cpus_mask, i)))
		++i;
	return i;
}

// As idle_cpu(), one that runs a lower priority.
Machine::CpuNumber Machine::cpu_to_preempt(const Task &task) const
{
	const auto is_lower = [&](CpuNumber i) {
		return cpus_[i].running != nobody && threads_[cpus_[i].running].priority < task.priority;
	};
	if (is_lower(task.cpu))
		return task.cpu;
	CpuNumber i = 0;
	while (i < cpus_.size() && (!is_lower(i) || !allows(task.cpus_mask, i)))
		++i;
	return i;
}

void Machine::make_runnable(ThreadNumber thread)
{
	const Task &task = threads_[thread];
	const CpuNumber lower = has_priorities_ ? cpu_to_preempt(task) : static_cast<CpuNumber>(cpus_.size());
	if (settings_.policy == Policy::round_robin && lower == task.cpu) {
		preempt(lower, thread);
		return;
	}
	if (const CpuNumber idle = idle_cpu(task); idle < cpus_.size()) {
		start(idle, thread);
		return;
	}
	if (lower < cpus_.size()) {
		preempt(lower, thread);
		return;
	}
	CpuNumber shortest = task.cpu;
	for (CpuNumber i = 0; i < cpus_.size(); ++i)
		if (allows(task.cpus_mask, i) && cpus_[i].queue.size() < cpus_[shortest].queue.size())
			shortest = i;
	enqueue(shortest, thread);
}

void Machine::enqueue(CpuNumber number, ThreadNumber thread)
{
	Cpu &cpu = cpus_[number];
	account(cpu);
	Task &task = threads_[thread];
	const Task &running = threads_[cpu.running];
	Nanoseconds least = running.virtual_time;
	for (const ThreadNumber i : cpu.queue)
		least = std::min(least, threads_[i].virtual_time);
	cpu.floor = std::max(cpu.floor, least);
	arrive(task, number);
	task.state = State::queued;
	cpu.queue.push_back(thread);
	++queued_;
	if (settings_.policy == Policy::fair && running.priority == task.priority &&
	    running.virtual_time - task.virtual_time > settings_.wakeup_granularity) {
		threads_[cpu.running].state = State::queued;
		cpu.queue.push_back(cpu.running);
		++queued_;
		pick(number);
	} else {
		set_timer(number);
	}
}

bool Machine::comes_before(const Waiting &a, const Waiting &b, CpuNumber for_cpu) const
{
	const Task &first = threads_[cpus_[a.cpu].queue[a.index]], &second = threads_[cpus_[b.cpu].queue[b.index]];
	if (first.priority != second.priority)
		return first.priority > second.priority;
	if (a.cpu != b.cpu)
		return b.cpu != for_cpu && (a.cpu == for_cpu || cpus_[a.cpu].queue.size() > cpus_[b.cpu].queue.size());
	return settings_.policy == Policy::fair && first.virtual_time < second.virtual_time;
}

void Machine::pick(CpuNumber number)
{
	Cpu &cpu = cpus_[number];
	cpu.running = nobody;
	timers_[number] = {};
	Waiting best{0, SIZE_MAX};
	const auto look_at = [&](CpuNumber of) {
		for (std::size_t i = 0; i < cpus_[of].queue.size(); ++i)
			if (allows(threads_[cpus_[of].queue[i]].cpus_mask, number) &&
			    (best.index == SIZE_MAX || comes_before({of, i}, best, number)))
				best = {of, i};
	};
	look_at(number);
	if ((best.index == SIZE_MAX || has_priorities_) && cpu.queue.size() < queued_)
		for (CpuNumber i = 0; i < cpus_.size(); ++i)
			if (i != number)
				look_at(i);
	if (best.index == SIZE_MAX)
		return;
	Cpu &from = cpus_[best.cpu];
	const ThreadNumber thread = from.queue[best.index];
	from.queue.erase(from.queue.begin() + static_cast<std::ptrdiff_t>(best.index));
	--queued_;
	start(number, thread);
}

Nanoseconds Machine::running_for(ThreadNumber thread) const
{
	const Task &task = threads_[thread];
	return task.state == State::running ? now_ - cpus_[task.cpu].since : 0;
}

} // namespace monitor::simulation
