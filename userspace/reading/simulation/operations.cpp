// SPDX-License-Identifier: MIT
// What each instruction of a replay does.
#include <utility>

#include "replayer.h"

namespace monitor::simulation {

Nanoseconds Replayer::execute(Worker &worker)
{
	worker.last = worker.at;
	const Instruction &instruction = program_.roles[worker.role][worker.at];
	const std::uint32_t number = instruction.number;
	switch (instruction.code) {
	case Code::cpu:
		return compute(worker, instruction);
	case Code::sleep:
		return sleep(worker, instruction);
	case Code::put:
		return put(worker, number, nullptr);
	case Code::signal:
		return signal(worker, number);
	case Code::await:
		return await(worker, number);
	case Code::lock:
		return lock(worker, locks_[number]);
	case Code::unlock:
		return unlock(worker, locks_[number]);
	case Code::call:
		return put(worker, number, &worker);
	case Code::await_reply:
		return await_reply(worker);
	case Code::reply:
		return reply(worker);
	case Code::wake:
		return post(worker, semaphore(worker, instruction));
	case Code::wait:
		return wait(worker, semaphore(worker, instruction));
	case Code::barrier:
		return meet(worker, barriers_[number]);
	case Code::branch:
		return branch(worker, instruction);
	case Code::jump:
		worker.at = instruction.target;
		return continues;
	case Code::fork:
		return fork(worker, instruction);
	case Code::join:
		return join(worker);
	case Code::end:
		return end(worker);
	}
	return continues;
}

Nanoseconds Replayer::compute(Worker &worker, const Instruction &instruction)
{
	++worker.at;
	const auto recorded = static_cast<double>(durations_.value_of(*instruction.operation, worker.role, worker.row));
	const Nanoseconds work = durations_.spend(recorded * factors_[instruction.number]);
	worker.busy[instruction.number] += work;
	if (worker.locks > 0 && instruction.operation->has_samples()) {
		LockedActivity &locked = locked_[instruction.number];
		(worker.is_after_others ? locked.after_others : locked.after_itself).push_back(recorded);
	}
	return work > 0 ? work : continues;
}

Nanoseconds Replayer::sleep(Worker &worker, const Instruction &instruction)
{
	++worker.at;
	const std::uint64_t ns = durations_.value_of(*instruction.operation, worker.role, worker.row);
	const Nanoseconds time = durations_.spend(static_cast<double>(ns));
	if (time == 0)
		return continues;
	worker.slept += time;
	machine_.wake(worker.thread, time);
	return blocks;
}

Nanoseconds Replayer::branch(Worker &worker, const Instruction &instruction)
{
	const bool is_taken = durations_.takes(*instruction.operation, worker.role, worker.row);
	worker.at = is_taken ? worker.at + 1 : instruction.target;
	return continues;
}

Nanoseconds Replayer::put(Worker &worker, std::size_t role, Worker *caller)
{
	++worker.at;
	Queue &queue = queues_[role];
	const std::uint32_t capacity = model_.roles[role].capacity;
	if (capacity > 0 && queue.items.size() >= capacity) {
		queue.putters.push_back({&worker, {worker.item, caller}});
		return blocks;
	}
	push_item(role, {worker.item, caller}, worker);
	return continues;
}

Nanoseconds Replayer::signal(Worker &worker, std::size_t role)
{
	++worker.at;
	Signals &signals = signals_[role][worker.item];
	++signals.count;
	for (Worker *const waiter : std::exchange(signals.waiters, {}))
		wake(*waiter, worker);
	return continues;
}

Nanoseconds Replayer::await(Worker &worker, std::uint32_t count)
{
	Signals &signals = signals_[worker.role][worker.item];
	if (signals.count < count) {
		signals.waiters.push_back(&worker);
		return blocks;
	}
	++worker.at;
	return continues;
}

// As with a mutex, a thread that comes while the next waiter is being woken takes the lock before it.
Nanoseconds Replayer::lock(Worker &worker, Lock &lock)
{
	if (lock.owner) {
		lock.waiters.push_back(&worker);
		return blocks;
	}
	lock.owner = &worker;
	lock.since = machine_.now();
	Worker *const last = std::exchange(lock.last, &worker);
	worker.is_after_others = last && last != &worker;
	++worker.locks;
	++worker.at;
	return continues;
}

Nanoseconds Replayer::unlock(Worker &worker, Lock &lock)
{
	++worker.at;
	--worker.locks;
	lock.owner = nullptr;
	lock.held += machine_.now() - lock.since;
	wake_first(lock.waiters, worker);
	return continues;
}

Nanoseconds Replayer::await_reply(Worker &worker)
{
	worker.waits_for_reply = worker.replies == 0;
	if (worker.waits_for_reply)
		return blocks;
	--worker.replies;
	++worker.at;
	return continues;
}

Nanoseconds Replayer::reply(Worker &worker)
{
	++worker.at;
	Worker *taker = &worker; // of the item, not a thread that it forked
	while (taker->parent)
		taker = taker->parent;
	Worker *const caller = std::exchange(taker->caller, nullptr);
	if (!caller) // an item that was put, not a call
		return continues;
	++caller->replies;
	if (std::exchange(caller->waits_for_reply, false))
		wake(*caller, worker);
	return continues;
}

Semaphore &Replayer::semaphore(const Worker &worker, const Instruction &instruction)
{
	const std::uint64_t own = instruction.operation->is_own ? worker.number + std::uint64_t(1) : 0;
	return semaphores_[own << 32 | instruction.number];
}

Nanoseconds Replayer::post(Worker &worker, Semaphore &semaphore)
{
	++worker.at;
	if (!wake_first(semaphore.waiters, worker))
		++semaphore.value;
	return continues;
}

Nanoseconds Replayer::wait(Worker &worker, Semaphore &semaphore)
{
	++worker.at;
	if (semaphore.value > 0) {
		--semaphore.value;
		return continues;
	}
	semaphore.waiters.push_back(&worker);
	return blocks;
}

Nanoseconds Replayer::meet(Worker &worker, Barrier &barrier)
{
	++worker.at;
	if (barrier.waiters.size() + 1 < barrier.threads) {
		barrier.waiters.push_back(&worker);
		return blocks;
	}
	release(barrier, worker);
	return continues;
}

void Replayer::release(Barrier &barrier, Worker &waker)
{
	for (Worker *const waiter : std::exchange(barrier.waiters, {}))
		wake(*waiter, waker);
}

Nanoseconds Replayer::fork(Worker &worker, const Instruction &instruction)
{
	++worker.at;
	for (const std::size_t block : instruction.blocks) {
		std::vector<Worker *> &idle = idle_children_[worker.role];
		if (idle.empty())
			idle.push_back(&add_worker(worker.role, worker.number));
		Worker &child = *idle.back();
		idle.pop_back();
		child.number = worker.number;
		child.item = worker.item;
		child.row = worker.row;
		child.at = block;
		child.parent = &worker;
		child.is_in_iteration = true;
		++worker.children;
		wake(child, worker);
	}
	return continues;
}

Nanoseconds Replayer::join(Worker &worker)
{
	worker.waits_for_children = worker.children > 0;
	if (worker.waits_for_children)
		return blocks;
	++worker.at;
	return continues;
}

Nanoseconds Replayer::end(Worker &worker)
{
	worker.is_in_iteration = false;
	if (!worker.parent)
		return continues;
	Worker &parent = *std::exchange(worker.parent, nullptr);
	idle_children_[worker.role].push_back(&worker);
	if (--parent.children == 0 && std::exchange(parent.waits_for_children, false))
		wake(parent, worker);
	return blocks;
}

} // namespace monitor::simulation
