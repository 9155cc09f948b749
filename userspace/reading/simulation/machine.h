// SPDX-License-Identifier: MIT
// A discrete-event simulation of CPUs, their scheduler, and threads.
//
// Events at the same time happen in the order of insertion, and only run() calls them and Thread::next(), one at a
// time. Times are ns from the start.
//
// A thread that becomes runnable is placed on the first of these that its mask allows:
// 1. its last CPU, if idle; 2. any idle CPU; 3. its last CPU, then any other, if it runs a lower priority, which is
// preempted; 4. the CPU with the shortest queue, of equals its last one.
// Under round robin it preempts a lower priority on its last CPU even if others are idle, as Linux's realtime class
// does. A preempted thread moves to an idle CPU, or becomes the first of its CPU's queue.
//
// Among equal priorities:
//   fair         The least virtual run time is next. A thread that slept is credited at most half a
//                time slice, and preempts a running one that is ahead by more than wakeup_granularity.
//   round_robin  First in, first out; only the end of a time slice preempts.
// A time slice ends only if a thread of the same or a higher priority waits for that CPU. A CPU that becomes free takes
// the highest priority that waits in any queue and may run there: of equals from its own queue, else from the longest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace monitor::simulation {

using Nanoseconds = std::int64_t;
using ThreadNumber = std::uint32_t;

constexpr std::uint64_t any_cpu = ~std::uint64_t(0); // a mask; no other mask includes CPUs from 64 on

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
	// Called on a CPU when the work so far is done. Returns further work in ns, or 0 to block.
	virtual Nanoseconds next() = 0;
};

class Machine {
public:
	explicit Machine(const SchedulerSettings &settings)
	    : settings_(settings), cpus_(settings.cpus), timers_(settings.cpus)
	{
	}

	// The thread is blocked at first, and must outlive the machine. A larger `priority` preempts a smaller one.
	ThreadNumber add(Thread &thread, std::uint64_t cpus_mask = any_cpu, int priority = 0);

	// Calls `happens` at `time`, or now() if that is later.
	void at(Nanoseconds time, std::function<void()> happens);
	// The thread becomes runnable after `delay`. Has no effect if it is not blocked then: next() must check its
	// condition itself, as a condition variable's waiter does.
	void wake(ThreadNumber thread, Nanoseconds delay = 0);
	// Prolongs the current work; a blocked thread does it before its next().
	void add_work(ThreadNumber thread, Nanoseconds work);

	// Runs until no event is left, or the next one is later than `limit`. Returns false if that takes more than
	// `max_effort` steps: an event is one, and one more for every 20 CPUs and queued threads, which it may search.
	bool run(Nanoseconds limit, std::uint64_t max_effort = UINT64_MAX);

	unsigned cpus() const { return settings_.cpus; }
	Nanoseconds now() const { return now_; } // of the last event
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
		CpuNumber cpu; // where it runs, waits, or ran last
		State state = State::blocked;
		Nanoseconds left = 0;
		Nanoseconds virtual_time = 0; // only comparable with others of `cpu`
		Nanoseconds cpu_time = 0;
	};
	struct Cpu {
		ThreadNumber running = nobody;
		Nanoseconds since = 0; // up to when the running thread is accounted
		Nanoseconds slice_start = 0;
		Nanoseconds floor = 0; // of virtual times, as the kernel's min_vruntime
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
	void handle_first_event();
	void set_timer(CpuNumber number);
	void expire(CpuNumber number);
	void account(Cpu &cpu);
	void start(CpuNumber number, ThreadNumber thread);
	void move_to(Task &task, CpuNumber number);
	void add_to_queue(Cpu &cpu, std::size_t at, ThreadNumber thread);
	void yield(CpuNumber number);
	void preempt(CpuNumber number, ThreadNumber thread);
	bool has_rival(const Cpu &cpu) const;
	void make_runnable(ThreadNumber thread);
	CpuNumber idle_cpu(const Task &task) const;
	CpuNumber cpu_to_preempt(const Task &task) const;
	CpuNumber shortest_queue(const Task &task) const;
	void enqueue(CpuNumber number, ThreadNumber thread);
	void run_next(CpuNumber number);
	std::optional<Waiting> first_waiting(CpuNumber for_cpu) const;
	bool comes_before(const Waiting &a, const Waiting &b, CpuNumber for_cpu) const;
	Nanoseconds running_for(ThreadNumber thread) const;

	SchedulerSettings settings_;
	std::vector<Cpu> cpus_;
	std::vector<Moment> timers_; // by CPU: when what runs is done, or its time slice ends
	std::vector<Task> threads_;
	std::vector<Event> heap_; // the earliest is the first
	std::vector<std::function<void()>> functions_;
	std::vector<std::uint32_t> free_functions_;
	std::uint64_t order_ = 0, events_ = 0;
	std::size_t queued_ = 0;      // in all queues
	bool has_priorities_ = false; // different ones
	Nanoseconds now_ = 0;
};

} // namespace monitor::simulation
