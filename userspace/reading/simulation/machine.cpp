// SPDX-License-Identifier: MIT
#include "machine.h"

#include <algorithm>
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
	push({{std::max(time, now_), order_++}, number, false});
}

void Machine::wake(ThreadNumber thread, Nanoseconds delay)
{
	push({{now_ + delay, order_++}, thread, true});
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
	for (std::uint64_t effort = 0; effort < max_effort; effort += 1 + (cpus_.size() + queued_) / 20) {
		const auto timer = std::ranges::min_element(timers_);
		const Moment event = heap_.empty() ? Moment() : heap_.front().at;
		const Nanoseconds time = std::min(timer->time, event.time);
		if (time == never || time > limit)
			return true;
		now_ = time;
		++events_;
		if (*timer < event)
			expire(static_cast<CpuNumber>(timer - timers_.begin()));
		else
			handle_first_event();
	}
	return false;
}

void Machine::handle_first_event()
{
	std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
	const Event event = heap_.back();
	heap_.pop_back();
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

// The work of the running thread is done, or its time slice has ended.
void Machine::expire(CpuNumber number)
{
	account(cpus_[number]);
	const ThreadNumber running = cpus_[number].running;
	if (threads_[running].left <= 0) {
		const Nanoseconds work = threads_[running].thread->next();
		threads_[running].left += work;
		if (work <= 0) {
			threads_[running].state = State::blocked;
			run_next(number);
			return;
		}
	}
	const Cpu &cpu = cpus_[number];
	if (now_ - cpu.slice_start < settings_.time_slice || !has_rival(cpu))
		set_timer(number);
	else
		yield(number);
}

void Machine::add_to_queue(Cpu &cpu, std::size_t at, ThreadNumber thread)
{
	threads_[thread].state = State::queued;
	cpu.queue.insert(cpu.queue.begin() + static_cast<std::ptrdiff_t>(at), thread);
	++queued_;
}

// The running thread becomes the last of the queue.
void Machine::yield(CpuNumber number)
{
	Cpu &cpu = cpus_[number];
	add_to_queue(cpu, cpu.queue.size(), cpu.running);
	run_next(number);
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
	move_to(task, number);
	cpu.floor = std::max(cpu.floor, task.virtual_time);
	cpu.running = thread;
	cpu.since = cpu.slice_start = now_;
	task.state = State::running;
	set_timer(number);
}

// Converts its virtual time to that CPU's.
void Machine::move_to(Task &task, CpuNumber number)
{
	const Nanoseconds floor = cpus_[number].floor, lag = task.virtual_time - cpus_[task.cpu].floor;
	task.virtual_time = floor + std::max(lag, -settings_.time_slice / 2);
	task.cpu = number;
}

void Machine::preempt(CpuNumber number, ThreadNumber thread)
{
	Cpu &cpu = cpus_[number];
	account(cpu);
	const ThreadNumber displaced = cpu.running;
	start(number, thread);
	if (const CpuNumber idle = idle_cpu(threads_[displaced]); idle < cpus_.size())
		start(idle, displaced);
	else
		add_to_queue(cpu, 0, displaced);
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

// Preferably its last one; the number of CPUs if there is none.
Machine::CpuNumber Machine::idle_cpu(const Task &task) const
{
	if (cpus_[task.cpu].running == nobody)
		return task.cpu;
	CpuNumber i = 0;
	while (i < cpus_.size() && (cpus_[i].running != nobody || !allows(task.cpus_mask, i)))
		++i;
	return i;
}

// As idle_cpu(), but a CPU that runs a lower priority.
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

Machine::CpuNumber Machine::shortest_queue(const Task &task) const
{
	CpuNumber shortest = task.cpu;
	for (CpuNumber i = 0; i < cpus_.size(); ++i)
		if (allows(task.cpus_mask, i) && cpus_[i].queue.size() < cpus_[shortest].queue.size())
			shortest = i;
	return shortest;
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
	enqueue(shortest_queue(task), thread);
}

void Machine::enqueue(CpuNumber number, ThreadNumber thread)
{
	Cpu &cpu = cpus_[number];
	account(cpu);
	Task &task = threads_[thread];
	const Task &running = threads_[cpu.running];
	Nanoseconds min_virtual_time = running.virtual_time;
	for (const ThreadNumber i : cpu.queue)
		min_virtual_time = std::min(min_virtual_time, threads_[i].virtual_time);
	cpu.floor = std::max(cpu.floor, min_virtual_time);
	move_to(task, number);
	add_to_queue(cpu, cpu.queue.size(), thread);
	if (settings_.policy == Policy::fair && running.priority == task.priority &&
	    running.virtual_time - task.virtual_time > settings_.wakeup_granularity)
		yield(number);
	else
		set_timer(number);
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

std::optional<Machine::Waiting> Machine::first_waiting(CpuNumber for_cpu) const
{
	std::optional<Waiting> first;
	const auto look_at = [&](CpuNumber cpu) {
		for (std::size_t i = 0; i < cpus_[cpu].queue.size(); ++i)
			if (allows(threads_[cpus_[cpu].queue[i]].cpus_mask, for_cpu) &&
			    (!first || comes_before({cpu, i}, *first, for_cpu)))
				first = {cpu, i};
	};
	look_at(for_cpu);
	if ((!first || has_priorities_) && cpus_[for_cpu].queue.size() < queued_)
		for (CpuNumber i = 0; i < cpus_.size(); ++i)
			if (i != for_cpu)
				look_at(i);
	return first;
}

void Machine::run_next(CpuNumber number)
{
	cpus_[number].running = nobody;
	timers_[number] = {};
	const std::optional<Waiting> next = first_waiting(number);
	if (!next)
		return;
	std::vector<ThreadNumber> &queue = cpus_[next->cpu].queue;
	const ThreadNumber thread = queue[next->index];
	queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(next->index));
	--queued_;
	start(number, thread);
}

Nanoseconds Machine::running_for(ThreadNumber thread) const
{
	const Task &task = threads_[thread];
	return task.state == State::running ? now_ - cpus_[task.cpu].since : 0;
}

} // namespace monitor::simulation
