// SPDX-License-Identifier: MIT
// A discrete-event simulation of CPUs, the scheduler and threads.
//
// What happens at a time is an event; events of equal times happen in the order of insertion, and only run() makes them
// happen: neither Thread::next() nor an event is called within another. Times are ns from the start.
//
// Placement of a thread that becomes runnable: its last CPU if that is idle; any idle CPU; the last CPU, then any, that
// runs a thread of lower priority, which is preempted; the CPU with the shortest queue (its last CPU, if that is one).
// Under round robin it preempts on its last CPU even if others are idle, as the kernel's realtime classes do. What is
// preempted goes to an idle CPU, or waits as the first of its queue. Among equals:
//   fair         the least virtual run time comes first. A sleeper is credited half a time slice, and preempts what has
//                run at least wakeup_granularity longer.
//   round_robin  first come, first served; only the end of a time slice preempts.
// A time slice ends only where a thread of no lower priority waits. A CPU takes the highest priority that waits
// anywhere and may run on it: of equals one of its own queue, else one of the longest queue.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace monitor::simulation {

using Nanoseconds = std::int64_t;
using ThreadNumber = std::uint32_t;

constexpr std::uint64_t any_cpu = ~std::uint64_t(0); // a mask; CPUs from 64 on are only in this one

enum class Policy { fair, round_robin }; // SCHED_OTHER, SCHED_RR

struct SchedulerSettings {
	unsigned cpus = 1;
	Policy policy = Policy::fair;
	Nanoseconds time_slice = 4'000'000;
	Nanoseconds wakeup_granularity = 1'000'000;
};

class Thread {
public:
	virtual ~Thread() = default;
	// It has the CPU, and its work is done: further work in ns, or 0 if it blocks.
	virtual Nanoseconds next() = 0;
};

class Machine {
public:
	explicit Machine(const SchedulerSettings &settings)
	    : settings_(settings), cpus_(settings.cpus), timers_(settings.cpus)
	{
	}

	// It is blocked until a first wake(), and must exist as long as the machine runs. A higher priority preempts.
	ThreadNumber add(Thread &thread, std::uint64_t cpus_mask = any_cpu, int priority = 0);

	// Not before now().
	void at(Nanoseconds time, std::function<void()> happens);
	// The thread becomes runnable after `delay`. Lost if it is runnable or running then; so next() looks again at
	// what it waits for, and a thread that has noted in next() that it waits loses none.
	void wake(ThreadNumber thread, Nanoseconds delay = 0);
	// More of the work in progress; of a blocked thread, done before its next().
	void add_work(ThreadNumber thread, Nanoseconds work);

	// Until no event is left, or the next one is later than `limit`. False: before that it has looked at more than
	// `max_effort` events, each counted once more for every 100 CPUs and queued threads that it looks through.
	bool run(Nanoseconds limit, std::uint64_t max_effort = UINT64_MAX);

	unsigned cpus() const { return settings_.cpus; }
	Nanoseconds now() const { return now_; } // the time of the last event
	bool has_idle_cpu(std::uint64_t cpus_mask = any_cpu) const;
	bool is_blocked(ThreadNumber thread) const { return threads_[thread].state == State::blocked; }
	bool is_running(ThreadNumber thread) const { return threads_[thread].state == State::running; }
	Nanoseconds cpu_time(ThreadNumber thread) const { return threads_[thread].cpu_time + running_for(thread); }
	Nanoseconds work_left(ThreadNumber thread) const { return threads_[thread].left - running_for(thread); }
	std::uint64_t events() const { return events_; } // that happened

private:
	using CpuNumber = std::uint32_t;
	enum class State : std::uint8_t { blocked, queued, running };
	static constexpr ThreadNumber nobody = ~ThreadNumber(0);
	static constexpr Nanoseconds never = INT64_MAX;

	struct Task {
		Thread *thread;
		std::uint64_t cpus_mask;
		int priority;
		CpuNumber cpu; // the last one, or that of its queue
		State state = State::blocked;
		Nanoseconds left = 0;
		Nanoseconds virtual_time = 0; // comparable on `cpu`
		Nanoseconds cpu_time = 0;
	};
	struct Cpu {
		ThreadNumber running = nobody;
		Nanoseconds since = 0;       // what runs is accounted up to then
		Nanoseconds slice_start = 0; // of what runs
		Nanoseconds floor = 0;       // of virtual times: who comes has no less, but for the credit
		std::vector<ThreadNumber> queue;
	};
	struct Moment {
		Nanoseconds time = never;
		std::uint64_t order = 0; // of insertion

		auto operator<=>(const Moment &) const = default;
	};
	struct Event {
		Moment at;
		std::uint32_t number; // of a function, or of a thread that is woken
		bool is_wake;

		bool operator>(const Event &other) const { return at > other.at; }
	};
	struct Waiting { // a thread in a queue
		CpuNumber cpu;
		std::size_t index;
	};

	static bool allows(std::uint64_t mask, CpuNumber cpu) { return cpu < 64 ? mask >> cpu & 1 : mask == any_cpu; }
	void push(const Event &event);
	void happen_first();
	void set_timer(CpuNumber number);
	void expire(CpuNumber number);
	void account(Cpu &cpu);
	void start(CpuNumber number, ThreadNumber thread);
	void arrive(Task &task, CpuNumber number);
	void add_to_queue(Cpu &cpu, std::size_t at, ThreadNumber thread);
	void yield(CpuNumber number);
	void preempt(CpuNumber number, ThreadNumber thread);
	bool has_rival(const Cpu &cpu) const;
	void make_runnable(ThreadNumber thread);
	CpuNumber idle_cpu(const Task &task) const;
	CpuNumber cpu_to_preempt(const Task &task) const;
	CpuNumber shortest_queue(const Task &task) const;
	void enqueue(CpuNumber number, ThreadNumber thread);
	void pick(CpuNumber number);
	std::optional<Waiting> first_waiting(CpuNumber for_cpu) const;
	bool comes_before(const Waiting &a, const Waiting &b, CpuNumber for_cpu) const;
	Nanoseconds running_for(ThreadNumber thread) const;

	SchedulerSettings settings_;
	std::vector<Cpu> cpus_;
	std::vector<Moment> timers_; // by CPU: when what runs is done, or its time slice ends
	std::vector<Task> threads_;
	std::vector<Event> heap_; // the earliest first
	std::vector<std::function<void()>> functions_;
	std::vector<std::uint32_t> free_functions_;
	std::uint64_t order_ = 0, events_ = 0;
	std::size_t queued_ = 0;      // in all queues
	bool has_priorities_ = false; // not only one
	Nanoseconds now_ = 0;
};

} // namespace monitor::simulation
