// SPDX-License-Identifier: MIT
// What a fold of events (thread_fold.h) delivers while it runs, and the interfaces that take it: Observer gets finished
// intervals, samples and what only some answers need; TimeObserver gets each time that is added up.
//
// Invariant: what an Observer gets of system calls and sleeps is within the fold's scope (scope.h); the times that a
// TimeObserver gets of a CPU come in order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mapping_token.h"
#include "reading/events/event.h"
#include "reading/events/merge.h"
#include "thread.h"

namespace monitor::analyze {

// What woke a thread: the thread that ran there, or an interrupt.
struct Waker {
	const Thread *thread = nullptr; // null: unknown
	std::int32_t interrupt = -1;    // number in EventKinds; -1: none
	std::uint32_t number = 0;       // of the irq or softirq

	bool operator==(const Waker &) const = default;
};

// Aggregate of system calls, sleeps or activities, in ticks; the individual intervals are gone.
struct Summed {
	std::uint64_t count = 0, failed = 0, total = 0, longest = 0;
	std::vector<std::pair<std::uint64_t, std::uint64_t>> lengths; // largest and number of each bucket
	// Of activities: functions left without an exit, and the sums of the fields of activities::Finished.
	std::uint64_t left = 0, exclusive = 0, inclusive = 0, cpu = 0, waiting = 0, blocked = 0;
	// Of sleeps: times from the wake-up to the CPU. One may belong to a sleep of the previous period.
	std::uint64_t transfers = 0, transfer_total = 0, transfer_longest = 0;
};

enum class Contradiction : std::uint8_t {
	other_thread_ran,   // the previous thread of a switch is not the running one
	on_two_cpus,        // a thread is switched in while it runs elsewhere
	entry_without_exit, // a system call has an entry and no exit
	exit_without_entry,
	interrupts_unpaired,
};

// One CPU's part of a sample of all CPUs (record --sample-every).
struct Sample {
	std::uint64_t time = 0, number = 0;
	std::uint32_t doing = 0; // EDC_DOING_*
};

// The stack of a running thread (record --stacks), by the ids of its parts; 0: that part is missing.
struct StackSample {
	enum class At : std::uint8_t {
		timer,
		sched_switch,
		sched_waking,
		fault,
		other
	} at = At::timer; // the event at which it was taken
	std::uint64_t time = 0;
	std::uint64_t address = 0; // of the innermost frame; 0: this is part of a stack
	std::uint64_t kernel = 0, user = 0;
	bool is_counted = false;            // whether the scope includes it
	const std::string *event = nullptr; // for At::other: the name of the class
};

// A thread entered or left a function (record --functions).
struct FunctionToken {
	bool is_entry = false;
	std::uint64_t time = 0;
	std::uint32_t number = 0;
	std::uint64_t stack_pointer = 0; // the same at entry and exit: where the return address is on x86
};

// Gets finished intervals and samples within the scope. Readings of counters and user events come whatever the scope,
// as a later one may complete them, user events only of selected threads: see ThreadFold::is_counting().
class Observer {
public:
	virtual ~Observer() = default;
	// A system call whose entry and exit were seen.
	virtual void system_call(const Thread &, std::uint32_t /*number*/, std::uint64_t /*begin*/,
				 std::uint64_t /*end*/, std::int64_t /*result*/)
	{
	}
	// A call without an entry, because a filter (seccomp) or a tracer refused it: its duration is unknown.
	virtual void refused_call(const Thread &, std::uint32_t /*call*/, std::uint64_t /*end*/,
				  std::int64_t /*result*/)
	{
	}
	// A thread slept from `from` to `to` and was woken; its `syscall` is the call it slept in, or EDC_NO_SYSCALL,
	// stopped_call or traced_call.
	virtual void blocked(const Thread &, std::uint64_t /*from*/, std::uint64_t /*to*/, const Waker &) {}
	// The same, summed over a period of statistics: calls of a process, given by its leader, and sleeps.
	virtual void system_calls(const Thread &, std::uint32_t /*number*/, const Summed &) {}
	virtual void sleeps(const Thread &, std::uint32_t /*call*/, const Waker &, const Summed &) {}
	// Activities of a process, and their callers: EDC_ACTIVITY_*, EDC_NO_ACTIVITY.
	virtual void activities(const Thread &, std::uint32_t /*activity*/, std::uint32_t /*caller*/, const Summed &) {}
	// A thread got a CPU for which it had been waiting since `from`: its run-queue latency.
	virtual void got_cpu(const Thread &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// Counters were read on a CPU; called before the switch that the reading belongs to.
	virtual void counters(const Cpu &, const trace::Event &) {}
	// What a CPU was doing when all CPUs were sampled.
	virtual void sample(const Cpu &, const Thread &, const Sample &) {}
	// A stack was taken; parts of one are described; mappings of processes. Whatever the scope, because later
	// stacks may refer to them.
	virtual void stack(const Thread &, const StackSample &) {}
	virtual void stack_frames(std::uint64_t /*id*/, std::uint32_t /*first*/, std::span<const std::uint64_t>) {}
	// `cpu`: on which it was described. `why`: the reason that there are no further frames; "": the stack is
	// complete.
	virtual void stack_end(std::uint32_t /*cpu*/, std::uint64_t /*id*/, std::uint32_t /*frames*/,
			       const std::string & /*why*/)
	{
	}
	virtual void mapping(const MappingToken &) {}
	// The recorder read CLOCK_MONOTONIC at this time.
	virtual void clock_read(std::uint64_t, std::uint64_t) {}
	// Whatever the scope, of selected threads.
	virtual void function(const Thread &, const FunctionToken &) {}
	// An event posted by a program, and a loss of events in one of its streams.
	virtual void user_event(const Thread &, const trace::Event &) {}
	virtual void user_gap(const trace::StreamInfo &, std::uint32_t /*process*/) {}
	// A thread has ended, or executes another program: what it was doing before is over. Whatever the scope, of
	// selected threads.
	virtual void ended(const Thread &, std::uint64_t /*time*/) {}
	// A thread has ended and is forgotten, as are others in the same ThreadFold::forget(); all of them still exist
	// during the calls. Later another may have its memory.
	virtual void forgotten(const Thread &) {}
	// The two threads exchange what is known of them (by number): see ThreadFold::exchange_numbers().
	virtual void exchanged(const Thread &, const Thread &) {}
	// The state of a CPU is unknown at least until `to`, and so are threads that are on no CPU.
	virtual void lost(const Cpu &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// A CPU went offline at its last token, while `thread` ran there: the switch to the idle thread has no token.
	virtual void went_offline(const Cpu &, const Thread & /*thread*/, std::uint64_t /*time*/) {}
	// `thread` is the one believed to run, or the one whose tokens are inconsistent.
	virtual void contradiction(Contradiction, std::uint64_t /*time*/, std::uint32_t /*cpu*/, const Thread &) {}
};

// Gets each time that is added to a CPU or a thread, those of a CPU in order. They add up to the times of the CPUs and
// threads. For pictures (answers/view/).
class TimeObserver {
public:
	virtual ~TimeObserver() = default;
	// By the CPU's current thread; null: it is unknown. `is_idle`: by the idle thread, without interrupts.
	virtual void spent(const Cpu &, std::uint64_t /*from*/, std::uint64_t /*to*/, Mode, bool /*is_idle*/) {}
	// It turned out that this thread had the CPU in all times so far that were delivered without a thread.
	virtual void found(const Cpu &, const Thread &) {}
	// The last `ticks` of the CPU in mode `from` turned out to be in mode `to`.
	virtual void moved(const Cpu &, Mode /*from*/, Mode /*to*/, std::uint64_t /*ticks*/) {}
	// A thread was runnable and had no CPU.
	virtual void waited(const Thread &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// The same, while its group had used up its quota.
	virtual void throttled(const Thread &thread, std::uint64_t from, std::uint64_t to) { waited(thread, from, to); }
	// The CPU was offline.
	virtual void offline(const Cpu &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// Tokens were lost: found() will come neither for this time, which may be empty, nor for any before it.
	virtual void lost(const Cpu &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// A thread slept; `is_over`: it was woken at `to`; else it still sleeps.
	virtual void slept(const Thread &, std::uint64_t /*from*/, std::uint64_t /*to*/, const Waker &,
			   bool /*is_over*/)
	{
	}
};

} // namespace monitor::analyze
