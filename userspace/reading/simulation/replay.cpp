// SPDX-License-Identifier: MIT
#include "replay.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <random>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "iterations.h"
#include "loads.h"
#include "program.h"
#include "reading/model/model_text.h"

namespace monitor::simulation {
namespace {

constexpr double usual_latency = 25'000,
		 usual_wake_cost = 8'000; // of wake-ups on other CPUs, if none was recorded
constexpr double nearly_all = 0.98;
constexpr Nanoseconds max_spent = 3'000'000'000'000'000'000; // 95 years
constexpr double max_drawn = 1e19;

class Replay;

struct Worker : Thread {
	Worker(Replay &replay, std::size_t role, std::uint32_t number) : replay(replay), role(role), number(number) {}
	Nanoseconds next() override;

	Replay &replay;
	std::size_t role;
	std::uint32_t number; // within the role
	ThreadNumber thread = 0;
	bool is_in_iteration = false, has_ended = false, waits_for_reply = false, waits_for_blocks = false;
	std::uint64_t started = 0; // iterations
	std::uint64_t item = 0;
	std::size_t row = 0;          // that its durations are from
	std::size_t at = 0, last = 0; // the next instruction, and the one that was executed last
	Worker *caller = nullptr, *parent = nullptr;
	std::uint32_t replies = 0, blocks = 0;
	std::uint32_t locks = 0;       // held
	bool is_after_others = false;  // the last thread with the lock was another one
	Nanoseconds wake_cost = 0;     // not computed yet
	std::vector<Nanoseconds> busy; // by activity
	Nanoseconds slept = 0;
};

struct Queue {
	struct Item {
		std::uint64_t number;
		Worker *caller;
	};
	std::deque<Item> items;
	std::deque<Worker *> takers;
	std::deque<std::pair<Worker *, Item>> putters;
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
struct Signals {
	std::uint32_t count = 0;
	std::vector<Worker *> waiters;
};
struct Barrier {
	std::size_t threads = 0; // that are to come
	std::vector<Worker *> waiters;
};

class Replay {
public:
	Replay(const model::Model &model, const model::SampleSet *samples, const Change &change,
	       const ReplaySettings &settings);
	Replayed run();
	Nanoseconds advance(Worker &worker);

private:
	// What an instruction returns that takes no work
	static constexpr Nanoseconds blocks = 0, goes_on = -1;

	Worker &add_worker(std::size_t role, std::uint32_t number);
	bool start_iteration(Worker &worker);
	bool take_item(Worker &worker);
	std::deque<Queue::Item>::iterator next_item(Queue &queue, std::size_t role);
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
	Nanoseconds fork(Worker &worker, const Instruction &instruction);
	Nanoseconds join(Worker &worker);
	Nanoseconds end(Worker &worker);
	void end_thread(Worker &worker);
	void release(Barrier &barrier, Worker &waker);
	void push_item(std::size_t role, Queue::Item item, Worker &waker);
	void wake(Worker &woken, Worker &waker);
	void refuse_stuck() const;
	void refuse_undone_items() const;
	std::string place(const Worker &worker) const;
	Semaphore &semaphore(const Worker &worker, const Instruction &instruction)
	{
		const std::uint64_t own = instruction.operation->is_own ? worker.number + std::uint64_t(1) : 0;
		return semaphores_[own << 32 | instruction.number];
	}

	std::uint64_t drawn(std::uint64_t below) { return random_() % below; }
	double drawn() { return std::uniform_real_distribution<>()(random_); }
	std::uint64_t value_of(const Worker &worker, const model::Operation &operation);
	bool takes(const Worker &worker, const model::Operation &branch);
	std::uint64_t drawn_of(const model::Distribution &distribution);
	Nanoseconds spend(double ns);
	double latency();
	double remote_latency() const;
	bool is_pool(std::size_t role) const { return model_.roles[role].mode == model::Role::Mode::pool; }

	const model::Model &model_;
	const model::SampleSet *samples_;
	const ReplaySettings settings_;
	const Program program_;
	Machine machine_;
	std::mt19937_64 random_;
	const double remote_latency_;
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
	Nanoseconds spent_ = 0; // by all threads
	Nanoseconds end_ = 0;
};

Nanoseconds Worker::next()
{
	return replay.advance(*this);
}

std::uint64_t items_of(const model::SampleSet *samples)
{
	std::uint64_t last = 0;
	if (samples)
		for (const model::RoleSamples &role : samples->roles)
			for (const std::uint64_t item : role.items)
				last = std::max(last, item);
	return last + 1;
}

std::uint32_t threads_of(const model::Role &role, const Change &change)
{
	const auto found = change.threads.find(role.name);
	return found != change.threads.end() ? found->second : role.threads;
}

Replay::Replay(const model::Model &model, const model::SampleSet *samples, const Change &change,
	       const ReplaySettings &settings)
    : model_(model), samples_(samples), settings_(settings), program_(model),
      machine_({change.cpus ? change.cpus : model.cpus, settings.policy,
		settings.policy == Policy::fair ? 4'000'000 : 100'000'000}),
      random_(settings.seed), remote_latency_(remote_latency()), factors_(program_.activities.size(), 1),
      idle_children_(model.roles.size()), queues_(model.roles.size()), signals_(model.roles.size()),
      locks_(program_.locks.size()), barriers_(program_.barriers.size()), locked_(program_.activities.size())
{
	for (std::uint32_t i = 1; i < factors_.size(); ++i) {
		const std::string &name = program_.activities.name(i);
		const auto found = change.faster.find(name);
		factors_[i] = work_factor(model, change, name) / (found != change.faster.end() ? found->second : 1);
	}
	const std::uint64_t items = items_of(samples);
	iterations_.reserve(model.roles.size());
	for (std::size_t role = 0; role < model.roles.size(); ++role) {
		const std::uint32_t threads = threads_of(model.roles[role], change);
		iterations_.emplace_back(model.roles[role], samples ? &samples->roles[role] : nullptr, threads, items);
		for (std::uint32_t i = 0; i < threads; ++i)
			machine_.wake(add_worker(role, i).thread);
		for (const std::uint32_t barrier : program_.barriers_of(role))
			barriers_[barrier].threads += threads;
	}
}

Worker &Replay::add_worker(std::size_t role, std::uint32_t number)
{
	constexpr std::size_t others = 32; // a thread takes memory without activities, too
	const std::size_t activities = program_.activities.size();
	if ((workers_.size() + 1) * (activities + others) > settings_.max_busy_times)
		throw Error("This model has too many threads to replay, {} and more of {} activities: give it fewer.",
			    workers_.size(), activities - 1);
	Worker &worker = *workers_.emplace_back(std::make_unique<Worker>(*this, role, number));
	worker.busy.resize(activities);
	worker.thread = machine_.add(worker);
	return worker;
}

Replayed Replay::run()
{
	if (!machine_.run(INT64_MAX - 1, settings_.max_operations))
		throw Error(
		    "This model takes minutes to replay: give it shorter times, or fewer iterations, threads or CPUs.");
	refuse_stuck();
	refuse_undone_items();
	Replayed made;
	made.elapsed = end_ + static_cast<Nanoseconds>(model_.fixed_ns);
	made.events = machine_.events();
	Loads loads(model_, made.elapsed, machine_.cpus());
	for (const auto &worker : workers_)
		loads.add_thread(worker->role, worker->busy, worker->slept);
	for (std::uint32_t i = 0; i < locks_.size(); ++i)
		loads.add_lock(program_.locks.name(i), locks_[i].held);
	made.limit = loads.limit(program_.activities);
	for (std::uint32_t i = 0; i < locked_.size(); ++i)
		if (!locked_[i].after_others.empty())
			made.locked.push_back({program_.activities.name(i), std::move(locked_[i].after_itself),
					       std::move(locked_[i].after_others)});
	return made;
}

// What happens until the thread needs the CPU for some time, or blocks.
Nanoseconds Replay::advance(Worker &worker)
{
	end_ = machine_.now();
	for (;;) {
		if (++instructions_ > settings_.max_operations)
			throw Error(
			    "This model has more than {} operations: give its roles fewer iterations (`loop N`).",
			    settings_.max_operations);
		if (worker.wake_cost > 0)
			return std::exchange(worker.wake_cost, 0);
		if (!worker.is_in_iteration && !start_iteration(worker))
			return 0;
		if (const Nanoseconds work = execute(worker); work >= 0)
			return work;
	}
}

bool Replay::start_iteration(Worker &worker)
{
	const Iterations &iterations = iterations_[worker.role];
	if (is_pool(worker.role)) {
		if (!take_item(worker))
			return false;
	} else if (worker.started == iterations.count(worker.number)) {
		end_thread(worker);
		return false;
	} else {
		const Iteration iteration = iterations.at(worker.number, worker.started);
		worker.item = iteration.item;
		worker.row = iteration.row;
	}
	if (settings_.resamples && iterations.rows() > 0)
		worker.row = drawn(iterations.rows());
	++worker.started;
	worker.at = 0;
	worker.is_in_iteration = true;
	return true;
}

std::deque<Queue::Item>::iterator Replay::next_item(Queue &queue, std::size_t role)
{
	if (!model_.roles[role].in_order)
		return queue.items.begin();
	const auto found =
	    std::ranges::find(queue.items, iterations_[role].item_in_order(queue.taken), &Queue::Item::number);
	instructions_ += static_cast<std::uint64_t>(found - queue.items.begin()) / 100; // a long search is more work
	return found;
}

bool Replay::take_item(Worker &worker)
{
	Queue &queue = queues_[worker.role];
	const auto next = next_item(queue, worker.role);
	if (next == queue.items.end()) {
		queue.takers.push_back(&worker);
		return false;
	}
	worker.item = next->number;
	worker.row = iterations_[worker.role].of_item(worker.item).row;
	worker.caller = next->caller;
	queue.items.erase(next);
	++queue.taken;
	if (!queue.putters.empty()) {
		const auto [putter, item] = queue.putters.front();
		queue.putters.pop_front();
		wake(*putter, worker);
		push_item(worker.role, item, worker);
	} else if (model_.roles[worker.role].in_order && !queue.items.empty() && !queue.takers.empty()) {
		Worker &taker = *queue.takers.front(); // the next one may be there already
		queue.takers.pop_front();
		wake(taker, worker);
	}
	return true;
}

void Replay::push_item(std::size_t role, Queue::Item item, Worker &waker)
{
	Queue &queue = queues_[role];
	queue.items.push_back(item);
	if (queue.takers.empty())
		return;
	Worker &taker = *queue.takers.front();
	queue.takers.pop_front();
	wake(taker, waker);
}

// Work in ns, 0: it blocks, less: it goes on. Whoever blocks either has gone past the instruction and is woken when
// what it waited for is done, or is woken to try it again.
Nanoseconds Replay::execute(Worker &worker)
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
		worker.at = takes(worker, *instruction.operation) ? worker.at + 1 : instruction.target;
		return goes_on;
	case Code::jump:
		worker.at = instruction.target;
		return goes_on;
	case Code::fork:
		return fork(worker, instruction);
	case Code::join:
		return join(worker);
	case Code::end:
		return end(worker);
	}
	return goes_on;
}

Nanoseconds Replay::compute(Worker &worker, const Instruction &instruction)
{
	++worker.at;
	const auto recorded = static_cast<double>(value_of(worker, *instruction.operation));
	const Nanoseconds work = spend(recorded * factors_[instruction.number]);
	worker.busy[instruction.number] += work;
	if (worker.locks > 0 && instruction.operation->has_samples()) {
		LockedActivity &locked = locked_[instruction.number];
		(worker.is_after_others ? locked.after_others : locked.after_itself).push_back(recorded);
	}
	return work > 0 ? work : goes_on;
}

Nanoseconds Replay::sleep(Worker &worker, const Instruction &instruction)
{
	++worker.at;
	const Nanoseconds time = spend(static_cast<double>(value_of(worker, *instruction.operation)));
	if (time == 0)
		return goes_on;
	worker.slept += time;
	machine_.wake(worker.thread, time);
	return blocks;
}

Nanoseconds Replay::put(Worker &worker, std::size_t role, Worker *caller)
{
	++worker.at;
	Queue &queue = queues_[role];
	const std::uint32_t capacity = model_.roles[role].capacity;
	if (capacity > 0 && queue.items.size() >= capacity) {
		queue.putters.push_back({&worker, {worker.item, caller}});
		return blocks;
	}
	push_item(role, {worker.item, caller}, worker);
	return goes_on;
}

Nanoseconds Replay::signal(Worker &worker, std::size_t role)
{
	++worker.at;
	Signals &signals = signals_[role][worker.item];
	++signals.count;
	for (Worker *const waiter : std::exchange(signals.waiters, {}))
		wake(*waiter, worker);
	return goes_on;
}

Nanoseconds Replay::await(Worker &worker, std::uint32_t count)
{
	Signals &signals = signals_[worker.role][worker.item];
	if (signals.count < count) {
		signals.waiters.push_back(&worker);
		return blocks;
	}
	++worker.at;
	return goes_on;
}

// A thread that comes while another one is being woken takes the lock before it, as of a mutex.
Nanoseconds Replay::lock(Worker &worker, Lock &lock)
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
	return goes_on;
}

Nanoseconds Replay::unlock(Worker &worker, Lock &lock)
{
	++worker.at;
	--worker.locks;
	lock.owner = nullptr;
	lock.held += machine_.now() - lock.since;
	if (!lock.waiters.empty()) {
		Worker &waiter = *lock.waiters.front();
		lock.waiters.pop_front();
		wake(waiter, worker);
	}
	return goes_on;
}

Nanoseconds Replay::await_reply(Worker &worker)
{
	worker.waits_for_reply = worker.replies == 0;
	if (worker.waits_for_reply)
		return blocks;
	--worker.replies;
	++worker.at;
	return goes_on;
}

Nanoseconds Replay::reply(Worker &worker)
{
	++worker.at;
	Worker *taker = &worker; // of the item, not a thread that it forked
	while (taker->parent)
		taker = taker->parent;
	Worker *const caller = std::exchange(taker->caller, nullptr);
	if (!caller) // an item that was put, not a call
		return goes_on;
	++caller->replies;
	if (std::exchange(caller->waits_for_reply, false))
		wake(*caller, worker);
	return goes_on;
}

Nanoseconds Replay::post(Worker &worker, Semaphore &semaphore)
{
	++worker.at;
	if (semaphore.waiters.empty()) {
		++semaphore.value;
		return goes_on;
	}
	Worker &waiter = *semaphore.waiters.front();
	semaphore.waiters.pop_front();
	wake(waiter, worker);
	return goes_on;
}

Nanoseconds Replay::wait(Worker &worker, Semaphore &semaphore)
{
	++worker.at;
	if (semaphore.value > 0) {
		--semaphore.value;
		return goes_on;
	}
	semaphore.waiters.push_back(&worker);
	return blocks;
}

Nanoseconds Replay::meet(Worker &worker, Barrier &barrier)
{
	++worker.at;
	if (barrier.waiters.size() + 1 < barrier.threads) {
		barrier.waiters.push_back(&worker);
		return blocks;
	}
	release(barrier, worker);
	return goes_on;
}

void Replay::release(Barrier &barrier, Worker &waker)
{
	for (Worker *const waiter : std::exchange(barrier.waiters, {}))
		wake(*waiter, waker);
}

Nanoseconds Replay::fork(Worker &worker, const Instruction &instruction)
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
		++worker.blocks;
		wake(child, worker);
	}
	return goes_on;
}

Nanoseconds Replay::join(Worker &worker)
{
	worker.waits_for_blocks = worker.blocks > 0;
	if (worker.waits_for_blocks)
		return blocks;
	++worker.at;
	return goes_on;
}

Nanoseconds Replay::end(Worker &worker)
{
	worker.is_in_iteration = false;
	if (!worker.parent)
		return goes_on;
	Worker &parent = *std::exchange(worker.parent, nullptr);
	idle_children_[worker.role].push_back(&worker);
	if (--parent.blocks == 0 && std::exchange(parent.waits_for_blocks, false))
		wake(parent, worker);
	return blocks;
}

// At a barrier nobody waits for it any more.
void Replay::end_thread(Worker &worker)
{
	worker.has_ended = true;
	for (const std::uint32_t number : program_.barriers_of(worker.role)) {
		Barrier &barrier = barriers_[number];
		if (--barrier.threads == barrier.waiters.size())
			release(barrier, worker);
	}
}

void Replay::wake(Worker &woken, Worker &waker)
{
	const auto cost = static_cast<double>(model_.wake_cost_ns);
	switch (settings_.wakes) {
	case Wakes::all_local:
		machine_.wake(woken.thread);
		return;
	case Wakes::all_remote:
		waker.wake_cost += spend(cost > 0 ? cost : usual_wake_cost);
		machine_.wake(woken.thread, spend(remote_latency_));
		return;
	case Wakes::as_recorded:
		const bool is_any_idle = machine_.has_idle_cpu();
		waker.wake_cost += is_any_idle ? spend(cost) : 0;
		machine_.wake(woken.thread, is_any_idle ? spend(latency()) : 0);
		return;
	}
}

// The time of a thread. As all threads together have a bounded one, no time of the simulation is too large a number.
Nanoseconds Replay::spend(double ns)
{
	if (!(ns <= static_cast<double>(max_spent - spent_)))
		throw Error(
		    "The threads of this model compute and sleep for more than 90 years: give it shorter times.");
	const auto time = static_cast<Nanoseconds>(std::llround(ns));
	spent_ += time;
	return time;
}

double Replay::latency()
{
	const auto &recorded = model_.latency_ns;
	return recorded.empty() ? 0 : static_cast<double>(recorded[drawn(recorded.size())]);
}

// The median
double Replay::remote_latency() const
{
	std::vector<std::uint64_t> recorded = model_.latency_ns;
	if (recorded.empty())
		return usual_latency;
	const auto middle = recorded.begin() + static_cast<std::ptrdiff_t>(recorded.size() / 2);
	std::ranges::nth_element(recorded, middle);
	return static_cast<double>(*middle);
}

std::uint64_t Replay::value_of(const Worker &worker, const model::Operation &operation)
{
	if (operation.ns)
		return *operation.ns;
	if (operation.distribution != model::Operation::no_index)
		return drawn_of(model_.distributions[operation.distribution]);
	return samples_->roles[worker.role].columns[operation.column][worker.row];
}

bool Replay::takes(const Worker &worker, const model::Operation &branch)
{
	return branch.probability ? drawn() < *branch.probability : value_of(worker, branch) != 0;
}

std::uint64_t Replay::drawn_of(const model::Distribution &distribution)
{
	switch (distribution.shape) {
	case model::Distribution::Shape::values:
		return distribution.ns[drawn(distribution.ns.size())];
	case model::Distribution::Shape::uniform:
		return distribution.ns[0] + drawn(distribution.ns[1] - distribution.ns[0] + 1);
	case model::Distribution::Shape::exponential:
		return static_cast<std::uint64_t>(
		    std::min(-std::log1p(-drawn()) * static_cast<double>(distribution.ns[0]), max_drawn));
	}
	return 0;
}

// A wait in the last iterations may be for what came after the recording.
void Replay::refuse_stuck() const
{
	for (const auto &worker : workers_) {
		if (worker->has_ended || is_pool(worker->role) || !worker->is_in_iteration || worker->parent)
			continue;
		const auto all = static_cast<double>(iterations_[worker->role].count(worker->number));
		const auto ended = static_cast<double>(worker->started - 1);
		if (ended < nearly_all * all || ended == 0)
			throw Error("This model ends before its threads do: {}.", place(*worker));
	}
}

// A pool has no number of iterations: what was put must have been done, but for what its threads last took.
void Replay::refuse_undone_items() const
{
	std::vector<std::uint64_t> in_work(model_.roles.size());
	for (const auto &worker : workers_)
		in_work[worker->role] += worker->is_in_iteration && !worker->parent;
	for (std::size_t role = 0; role < queues_.size(); ++role) {
		const std::uint64_t taken = queues_[role].taken, left = queues_[role].items.size(), all = taken + left;
		const bool is_none_done = is_pool(role) && taken == in_work[role];
		if (all > 0 &&
		    (is_none_done || static_cast<double>(left) > (1 - nearly_all) * static_cast<double>(all)))
			throw Error("This model ends before its threads do: {} of {} items of role {} are never done.",
				    left + in_work[role], all, model::name_text(model_.roles[role].name));
	}
}

std::string Replay::place(const Worker &worker) const
{
	const model::Operation *const operation = program_.roles[worker.role][worker.last].operation;
	return fmt::format("thread {} of role {} waits for ever in its iteration {}{}", worker.number + 1,
			   model::name_text(model_.roles[worker.role].name), worker.started,
			   operation ? fmt::format(" (at `{}`)", model::keyword_of(operation->kind)) : "");
}

} // namespace

Replayed replay(const model::Model &model, const model::SampleSet *samples, const Change &change,
		const ReplaySettings &settings)
{
	return Replay(model, samples, change, settings).run();
}

std::vector<Replayed> replay_all(const model::Model &model, const Change &change, const ReplaySettings &settings)
{
	if (model.sets.empty())
		return {replay(model, nullptr, change, settings)};
	std::vector<Replayed> made;
	for (const model::SampleSet &set : model.sets)
		made.push_back(replay(model, &set, change, settings));
	return made;
}

std::vector<double> elapsed_of(const std::vector<Replayed> &replays)
{
	std::vector<double> values;
	for (const Replayed &replayed : replays)
		values.push_back(static_cast<double>(replayed.elapsed));
	return values;
}

double work_factor(const model::Model &model, const Change &change, const std::string &activity)
{
	double before = 0, after = 0;
	bool is_shared = false;
	for (const model::Role &role : model.roles) {
		bool has_barrier = false, has_activity = false;
		model::for_each_operation(role.body, [&](const model::Operation &operation) {
			has_barrier |= operation.kind == model::Kind::barrier;
			has_activity |= operation.kind == model::Kind::cpu && operation.name == activity;
		});
		if (!has_barrier || !has_activity)
			continue;
		is_shared = true;
		before += role.threads;
		after += threads_of(role, change);
	}
	return is_shared && after > 0 ? before / after : 1;
}

} // namespace monitor::simulation
