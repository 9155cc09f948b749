// SPDX-License-Identifier: MIT
#include "replayer.h"

#include <algorithm>

#include "base/error.h"
#include "loads.h"
#include "reading/model/model_text.h"

namespace monitor::simulation {
namespace {

constexpr double usual_wake_cost = 8'000; // of wake-ups on other CPUs, if none was recorded
constexpr double nearly_all = 0.98;       // of iterations or items: the last ones may wait for what was not recorded

// One more than the largest item.
std::uint64_t items_of(const model::SampleSet *samples)
{
	std::uint64_t last = 0;
	if (samples)
		for (const model::RoleSamples &role : samples->roles)
			for (const std::uint64_t item : role.items)
				last = std::max(last, item);
	return last + 1;
}

} // namespace

Nanoseconds Worker::next()
{
	return replayer.advance(*this);
}

Replayer::Replayer(const model::Model &model, const model::SampleSet *samples, const Change &change,
		   const ReplaySettings &settings)
    : model_(model), settings_(settings), program_(model),
      machine_({change.cpus ? change.cpus : model.cpus, settings.policy,
		settings.policy == Policy::fair ? 4'000'000 : 100'000'000}),
      durations_(model, samples, settings.seed), factors_(program_.activities.size(), 1),
      idle_children_(model.roles.size()), queues_(model.roles.size()), signals_(model.roles.size()),
      locks_(program_.locks.size()), barriers_(program_.barriers.size()), locked_(program_.activities.size())
{
	for (std::uint32_t i = 1; i < factors_.size(); ++i)
		factors_[i] = time_factor(model, change, program_.activities.name(i));
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

Worker &Replayer::add_worker(std::size_t role, std::uint32_t number)
{
	constexpr std::size_t others = 32; // about the memory of a thread without activities
	const std::size_t activities = program_.activities.size();
	if ((workers_.size() + 1) * (activities + others) > settings_.max_busy_times)
		throw Error("This model has too many threads to replay, {} and more of {} activities: give it fewer.",
			    workers_.size(), activities - 1);
	Worker &worker = *workers_.emplace_back(std::make_unique<Worker>(*this, role, number));
	worker.busy.resize(activities);
	worker.thread = machine_.add(worker);
	return worker;
}

Replayed Replayer::run()
{
	if (!machine_.run(INT64_MAX - 1, settings_.max_operations))
		throw Error(
		    "This model takes minutes to replay: give it shorter times, or fewer iterations, threads or CPUs.");
	check_none_stuck();
	check_items_done();
	Replayed made;
	made.elapsed = end_ + static_cast<Nanoseconds>(model_.fixed_ns);
	made.events = machine_.events();
	made.operations = instructions_;
	made.limit = limit(made.elapsed);
	for (std::uint32_t i = 0; i < locked_.size(); ++i)
		if (!locked_[i].after_others.empty())
			made.locked.push_back({program_.activities.name(i), std::move(locked_[i].after_itself),
					       std::move(locked_[i].after_others)});
	return made;
}

Load Replayer::limit(Nanoseconds elapsed) const
{
	Loads loads(model_, elapsed, machine_.cpus());
	for (const auto &worker : workers_)
		loads.add_thread(worker->role, worker->busy, worker->slept);
	for (std::uint32_t i = 0; i < locks_.size(); ++i)
		loads.add_lock(program_.locks.name(i), locks_[i].held);
	return loads.limit(program_.activities);
}

Nanoseconds Replayer::advance(Worker &worker)
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

bool Replayer::start_iteration(Worker &worker)
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
		worker.row = durations_.drawn(iterations.rows());
	++worker.started;
	worker.at = 0;
	worker.is_in_iteration = true;
	return true;
}

std::deque<Queue::Item>::iterator Replayer::next_item(Queue &queue, std::size_t role)
{
	if (!model_.roles[role].in_order)
		return queue.items.begin();
	const auto found =
	    std::ranges::find(queue.items, iterations_[role].item_in_order(queue.taken), &Queue::Item::number);
	instructions_ += static_cast<std::uint64_t>(found - queue.items.begin()) / 100; // bounds the time of searches
	return found;
}

bool Replayer::take_item(Worker &worker)
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
	} else if (model_.roles[worker.role].in_order && !queue.items.empty()) {
		wake_first(queue.takers, worker); // the next item in order may be in the queue already
	}
	return true;
}

void Replayer::push_item(std::size_t role, Queue::Item item, Worker &waker)
{
	queues_[role].items.push_back(item);
	wake_first(queues_[role].takers, waker);
}

void Replayer::end_thread(Worker &worker)
{
	worker.has_ended = true;
	for (const std::uint32_t number : program_.barriers_of(worker.role)) {
		Barrier &barrier = barriers_[number];
		if (--barrier.threads == barrier.waiters.size())
			release(barrier, worker);
	}
}

bool Replayer::wake_first(std::deque<Worker *> &waiters, Worker &waker)
{
	if (waiters.empty())
		return false;
	Worker &woken = *waiters.front();
	waiters.pop_front();
	wake(woken, waker);
	return true;
}

void Replayer::wake(Worker &woken, Worker &waker)
{
	const auto cost = static_cast<double>(model_.wake_cost_ns);
	switch (settings_.wakes) {
	case Wakes::all_local:
		machine_.wake(woken.thread);
		return;
	case Wakes::all_remote:
		waker.wake_cost += durations_.spend(cost > 0 ? cost : usual_wake_cost);
		machine_.wake(woken.thread, durations_.spend(durations_.median_wake_latency()));
		return;
	case Wakes::as_recorded:
		const bool is_any_idle = machine_.has_idle_cpu();
		waker.wake_cost += is_any_idle ? durations_.spend(cost) : 0;
		machine_.wake(woken.thread, is_any_idle ? durations_.spend(durations_.wake_latency()) : 0);
		return;
	}
}

// Threads that wait for ever, except in their last iterations.
void Replayer::check_none_stuck() const
{
	for (const auto &worker : workers_) {
		if (worker->has_ended || is_pool(worker->role) || !worker->is_in_iteration || worker->parent)
			continue;
		const auto all = static_cast<double>(iterations_[worker->role].count(worker->number));
		const auto ended = static_cast<double>(worker->started - 1);
		if (ended < nearly_all * all || ended == 0)
			throw Error("This model ends before its threads do: {}.", where_stuck(*worker));
	}
}

// Pools have no number of iterations: nearly all items that were put must have been taken, and some been done.
void Replayer::check_items_done() const
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

std::string Replayer::where_stuck(const Worker &worker) const
{
	const model::Operation *const operation = program_.roles[worker.role][worker.last].operation;
	return fmt::format("thread {} of role {} waits for ever in its iteration {}{}", worker.number + 1,
			   model::name_text(model_.roles[worker.role].name), worker.started,
			   operation ? fmt::format(" (at `{}`)", model::keyword_of(operation->kind)) : "");
}

} // namespace monitor::simulation
