// SPDX-License-Identifier: MIT
// Virtual clocks: when everything would have happened if no probe had taken time and the recorder had not run.
//
// VirtualTimes (virtual_times.h) feeds it the events of all CPUs in the order of time, with what each one's probe cost,
// and reads what was removed from each thread's times. Time is in ticks, as double: costs are fractions of a tick.
//
// The rules: a CPU's time stands still while a probe or the recorder runs. Threads of one tree (a process and its
// descendants) share a virtual time. A thread that a thread of its tree woke resumes at the later of its own and the
// waker's virtual time plus the latency; one that was woken from outside (a timer, a device, another tree) slept as
// long as measured, less what stood still between that cause and the wake-up. Waiting for a CPU ends when the threads
// of the tree before it have left it, and lasts as long as others had it. What one tree's probes took does not move
// another tree: it is not its cause. Invariant: within a tree, virtual time never goes back on a CPU, nor in a thread,
// nor from a waker to the woken thread.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace monitor::cost {

// What a probe takes before and after it reads the time of its event.
struct ProbeTime {
	double before = 0, after = 0;
};

// Measured ticks that would not have occurred; of waiting and sleeping, negative if more would have.
struct RemovedTimes {
	double running = 0, waiting = 0, blocked = 0;
};

class VirtualClock {
public:
	using Thread = std::uint32_t; // number, in the order of add()
	static constexpr Thread idle = ~0u, unknown = ~0u - 1, in_gap = ~0u - 2;
	static constexpr std::uint32_t no_tree = 0; // threads in no tree only have times of their own
	enum class State : std::uint8_t { unknown, running, ready, blocked };

	explicit VirtualClock(double begin) : begin_(begin) {}

	Thread add(std::uint32_t tree, bool is_recorder);
	// The state at the start. A thread without a known state starts with its first event.
	void begin_as(Thread thread, State state);
	// The thread has been on this CPU all along, unnoticed or instead of another one.
	void found(std::uint32_t cpu, Thread thread);

	// Called first for each event; the calls below concern the CPU's last event.
	void event(std::uint32_t cpu, double time, const ProbeTime &probe);
	void switched(std::uint32_t cpu, bool remains_ready, Thread next);
	// An interrupt that is not nested in another.
	void interrupted(std::uint32_t cpu);
	// A wake-up by the running thread or, from_outside, by an interrupt.
	void woke(std::uint32_t cpu, Thread woken, bool from_outside);
	void created(std::uint32_t cpu, Thread child);
	// A gap begins on this CPU. Whatever waits or sleeps now does so for an unknown time.
	void lost(std::uint32_t cpu);
	// Each thread continues as the other; what was removed stays.
	void exchange(Thread one, Thread other);

	const RemovedTimes &removed(Thread thread) const { return threads_[thread].removed; }
	// How long it waited for a CPU that threads of no tree, or of another tree, had.
	double waited_for_others(Thread thread) const { return threads_[thread].waited_for_others; }
	// A thread's virtual time, since the start of its tree; for a sleeper, when it fell asleep.
	double now(Thread thread) const { return threads_[thread].now; }
	Thread current(std::uint32_t cpu) const { return cpu < cpus_.size() ? cpus_[cpu].current : unknown; }
	State state(Thread thread) const { return threads_[thread].state; }

private:
	// How long a CPU has not worked so far: time stood still, or it was idle.
	struct CpuTotals {
		double stopped = 0, idle = 0;
	};
	struct TaskState {
		State state = State::unknown;
		double now = 0;                     // virtual
		double since = 0;                   // start of the state ready or blocked, as measured
		std::vector<CpuTotals> totals_then; // the CPUs' totals at that time
		double waking_after = 0; // what the wake-up's probe took after reading the clock, on CPU woken_on
		std::uint32_t woken_on = 0;
		bool woken_early = false; // woken while it still ran
		double early_waker = 0;   // the waker's virtual time then
		bool is_lost = false;     // there was a gap in the current state
	};
	struct ThreadState : TaskState {
		std::uint32_t tree = no_tree;
		bool is_recorder = false;
		RemovedTimes removed;
		double waited_for_others = 0;
	};
	// When a thread of a tree last left a CPU.
	struct Left {
		double time, now;
		CpuTotals totals;
	};
	struct Cpu {
		Thread current = unknown;
		double time = 0;         // of its last event
		CpuTotals totals;        // totals until then
		double owed = 0;         // probe cost that falls into the time since then
		double before = 0;       // of the last event's probe, as far as time stood still for it
		double after = 0;        // of the last event's probe
		double run_begin = 0;    // `totals.stopped` when the current thread got the CPU
		double interrupt_at = 0; // `totals.stopped` at the outermost interrupt
		std::unordered_map<std::uint32_t, Left> left; // by tree
	};

	Cpu &cpu(std::uint32_t number);
	CpuTotals totals_at(const Cpu &cpu, double time) const;
	void note_totals(TaskState &task, double time) const;
	void leave(Cpu &cpu, ThreadState &thread, bool remains_ready);
	void enter(std::uint32_t number, Cpu &cpu, ThreadState &thread);
	static void remove(double &of_state, const ThreadState &thread, double ticks);
	void become_ready(std::uint32_t number, const Cpu &cpu, ThreadState &thread, double virtual_time);
	bool runs_recorder(const Cpu &cpu) const
	{
		return cpu.current < threads_.size() && threads_[cpu.current].is_recorder;
	}

	double begin_;
	std::deque<ThreadState> threads_;
	std::vector<Cpu> cpus_;
};

} // namespace monitor::cost
