// SPDX-License-Identifier: MIT
// One replay of a model: the state of its threads, and of what they wait for.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "durations.h"
#include "iterations.h"
#include "machine.h"
#include "program.h"
#include "replay.h"

namespace monitor::simulation {

class Replayer;

struct Worker : Thread {
	Worker(Replayer &replayer, std::size_t role, std::uint32_t number)
	    : replayer(replayer), role(role), number(number)
	{
	}
	Nanoseconds next() override;

	Replayer &replayer;
	std::size_t role;
	std::uint32_t number; // within the role
	ThreadNumber thread = 0;
	bool is_in_iteration = false, has_ended = false, waits_for_reply = false, waits_for_children = false;
	std::uint64_t started = 0; // iterations
	std::uint64_t item = 0;
	std::size_t row = 0;           // of the samples
	std::size_t at = 0, last = 0;  // the next instruction, and the last one executed
	Worker *caller = nullptr;      // of the item, which is a call
	Worker *parent = nullptr;      // which forked this one
	std::uint32_t replies = 0;     // that it has not read yet
	std::uint32_t children = 0;    // forked, not ended
	std::uint32_t locks = 0;       // held
	bool is_after_others = false;  // another thread had the last lock before
	Nanoseconds wake_cost = 0;     // of wake-ups since it last computed
	std::vector<Nanoseconds> busy; // by activity
	Nanoseconds slept = 0;
};

// Of a pool.
struct Queue {
	struct Item {
		std::uint64_t number;
		Worker *caller;
	};
	std::deque<Item> items;
	std::deque<Worker *> takers;
	std::deque<std::pair<Worker *, Item>> putters; // they wait while the queue is full
	std::uint64_t taken = 0;
};
struct Lock {
	Worker *owner = nullptr, *last = nullptr;
	std::deque<Worker *> waiters;
	Nanoseconds since = 0, held = 0;
};
struct Semaphore {
	std::uint64_t value = 0;
	std::deque<Worker *> waiters;
};
// Of an item, to a role.
struct Signals {
	std::uint32_t count = 0;
	std::vector<Worker *> waiters;
};
struct Barrier {
	std::size_t threads = 0; // that have not ended
	std::vector<Worker *> waiters;
};

// The threads and their iterations are in replayer.cpp, what each operation does in operations.cpp.
class Replayer {
public:
	Replayer(const model::Model &model, const model::SampleSet *samples, const Change &change,
		 const ReplaySettings &settings);
	Replayed run();
	// Continues the thread until it needs the CPU for the returned time, or blocks: 0.
	Nanoseconds advance(Worker &worker);

private:
	// Of instructions that take no time.
	static constexpr Nanoseconds blocks = 0, continues = -1;

	Worker &add_worker(std::size_t role, std::uint32_t number);
	bool start_iteration(Worker &worker);
	bool take_item(Worker &worker);
	std::deque<Queue::Item>::iterator next_item(Queue &queue, std::size_t role);
	void push_item(std::size_t role, Queue::Item item, Worker &waker);
	void wake(Worker &woken, Worker &waker);
	bool wake_first(std::deque<Worker *> &waiters, Worker &waker); // false: there is none
	void end_thread(Worker &worker);
	Load limit(Nanoseconds elapsed) const;
	void check_none_stuck() const;
	void check_items_done() const;
	std::string where_stuck(const Worker &worker) const;
	bool is_pool(std::size_t role) const { return model_.roles[role].mode == model::Role::Mode::pool; }

	// Returns the work in ns, `blocks` or `continues`. A thread that blocks continues after the instruction, if
	// what it waited for was done by the waker, or at it, to try again.
	Nanoseconds execute(Worker &worker);
	Nanoseconds compute(Worker &worker, const Instruction &instruction);
	Nanoseconds sleep(Worker &worker, const Instruction &instruction);
	Nanoseconds put(Worker &worker, std::size_t role, Worker *caller);
	Nanoseconds signal(Worker &worker, std::size_t role);
	Nanoseconds await(Worker &worker, std::uint32_t signals);
	Nanoseconds lock(Worker &worker, Lock &lock);
	Nanoseconds unlock(Worker &worker, Lock &lock);
	Nanoseconds await_reply(Worker &worker);
	Nanoseconds reply(Worker &worker);
	Nanoseconds post(Worker &worker, Semaphore &semaphore);
	Nanoseconds wait(Worker &worker, Semaphore &semaphore);
	Nanoseconds meet(Worker &worker, Barrier &barrier);
	Nanoseconds branch(Worker &worker, const Instruction &instruction);
	Nanoseconds fork(Worker &worker, const Instruction &instruction);
	Nanoseconds join(Worker &worker);
	Nanoseconds end(Worker &worker);
	void release(Barrier &barrier, Worker &waker);
	Semaphore &semaphore(const Worker &worker, const Instruction &instruction);

	const model::Model &model_;
	const ReplaySettings settings_;
	const Program program_;
	Machine machine_;
	Durations durations_;
	std::vector<double> factors_; // by activity: of their durations
	std::vector<Iterations> iterations_;
	std::vector<std::unique_ptr<Worker>> workers_;
	std::vector<std::vector<Worker *>> idle_children_;                // by role
	std::vector<Queue> queues_;                                       // by role
	std::vector<std::unordered_map<std::uint64_t, Signals>> signals_; // by role and item
	std::vector<Lock> locks_;
	std::vector<Barrier> barriers_;
	std::unordered_map<std::uint64_t, Semaphore> semaphores_;
	std::vector<LockedActivity> locked_; // by activity
	std::uint64_t instructions_ = 0;
	Nanoseconds end_ = 0;
};

} // namespace monitor::simulation
