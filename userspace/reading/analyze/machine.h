// SPDX-License-Identifier: MIT
// The fold: turns events, in time order, into states of threads and CPUs, and the states into times.
//
// Every analysis runs it: fold(trace, machine) feeds all events and gaps, then threads() and cpus() hold the result.
// The events need not come from files: what must be known ahead of them is a Source (source.h). Observers are notified
// of finished intervals (system calls, blocked times) and of contradictions between tokens. Next in the flow:
// answers/report/usage_report.cpp, reading/activities/tracker.cpp, check.cpp.
//
// The rules: time between two tokens of a CPU belongs to what ran there then. Only tokens say what ran: a loss makes
// every state unknown until a token determines it; kernel time without brackets is unattributed, never user time. As
// long as a CPU's events are lost, a thread that is on no CPU may run there unseen, so its state is unknown.
// States are followed while all probes were attached. Counted are times within the window: that part of it which the
// scope (scope.h) includes.
// Invariant: the sum of a CPU's times is its window; one thread feeds it, in time order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "event_kinds.h"
#include "mapping_token.h"
#include "reading/events/gap.h"
#include "reading/events/merge.h"
#include "reading/events/trace.h"
#include "recording_info.h"
#include "scope.h"
#include "source.h"
#include "thread.h"
#include "tid_table.h"

namespace monitor::analyze {

// What woke a thread: the thread that ran there, or an interrupt.
struct Waker {
	const Thread *thread = nullptr; // null: unknown
	std::int32_t interrupt = -1;    // EventKinds number, -1: none
	std::uint32_t number = 0;       // of the irq or softirq

	bool operator==(const Waker &) const = default;
};

// Several system calls, sleeps or activities, of which each is not known any more. In ticks.
struct Summed {
	std::uint64_t count = 0, failed = 0, total = 0, longest = 0;
	std::vector<std::pair<std::uint64_t, std::uint64_t>> lengths; // of each bucket the largest, and how many
	// Of activities: functions without an exit of their own, and the sums of activities::Finished.
	std::uint64_t left = 0, exclusive = 0, inclusive = 0, cpu = 0, waiting = 0, blocked = 0;
	// Of sleeps: the times from the wake-up to the CPU. One may belong to a sleep of the period before.
	std::uint64_t transfers = 0, transfer_total = 0, transfer_longest = 0;
};

// Of a recording of statistics: its periods in the window.
struct Periods {
	std::uint64_t count = 0, ticks = 0;
	std::uint64_t lossy = 0;          // those in which events were lost
	std::uint64_t lost = 0, late = 0; // events: discarded, and seen too late to be in any period
	std::uint64_t recorder_ns = 0;    // CPU time
	std::map<std::uint32_t, std::uint64_t> events, outside; // by class id; outside: of none of all periods
	// Of programs' activities: those that ended, begins and ends without a partner, and what is open at the end.
	std::uint64_t activities = 0, unpaired_begins = 0, unpaired_ends = 0, open = 0;
};

enum class Contradiction : std::uint8_t {
	other_thread_ran,   // the previous thread of a switch is not the running one
	on_two_cpus,        // a thread is switched in while it runs elsewhere
	entry_without_exit, // of a system call
	exit_without_entry,
	interrupts_unpaired,
};

// One CPU's part of a sample of all CPUs (record --sample-every).
struct Sample {
	std::uint64_t time = 0, number = 0;
	std::uint32_t doing = 0; // EDC_DOING_*
};

// The stack of a running thread (record --stacks), by the ids of its parts; 0: it has no such part.
struct StackSample {
	enum class At : std::uint8_t {
		timer,
		sched_switch,
		sched_waking,
		fault,
		other
	} at = At::timer; // which event had it
	std::uint64_t time = 0;
	std::uint64_t address = 0; // of the innermost frame; 0: it is part of a stack
	std::uint64_t kernel = 0, user = 0;
	bool is_counted = false;            // the scope includes it
	const std::string *event = nullptr; // at `other`: the class, as the trace's description calls it
};

// A thread called a function, or left it (record --functions).
struct FunctionToken {
	bool is_entry = false;
	std::uint64_t time = 0;
	std::uint32_t number = 0;
	std::uint64_t stack_pointer = 0; // of both the same, where the return address lies on x86
};

// Gets finished intervals and samples that the scope includes. Readings of counters and user events, which others may
// complete, it gets at all times, user events only of selected threads: see Machine::is_counting().
class Observer {
public:
	virtual ~Observer() = default;
	// A system call whose entry and exit were seen.
	virtual void system_call(const Thread &, std::uint32_t /*number*/, std::uint64_t /*begin*/,
				 std::uint64_t /*end*/, std::int64_t /*result*/)
	{
	}
	// One that had no entry, as a filter (seccomp) or a tracer refused it: how long it took is not known.
	virtual void refused_call(const Thread &, std::uint32_t /*call*/, std::uint64_t /*end*/,
				  std::int64_t /*result*/)
	{
	}
	// A thread slept from `from` to `to` and was woken; its `syscall` is the call it slept in, or EDC_NO_SYSCALL.
	virtual void blocked(const Thread &, std::uint64_t /*from*/, std::uint64_t /*to*/, const Waker &) {}
	// The same of all that ended in a period of statistics: calls of a process, told of its leader, and sleeps.
	virtual void system_calls(const Thread &, std::uint32_t /*number*/, const Summed &) {}
	virtual void sleeps(const Thread &, std::uint32_t /*call*/, const Waker &, const Summed &) {}
	// Activities of a process, and what they were directly inside of: EDC_ACTIVITY_*, EDC_NO_ACTIVITY.
	virtual void activities(const Thread &, std::uint32_t /*activity*/, std::uint32_t /*caller*/, const Summed &) {}
	// A thread got a CPU, for which it had been ready since `from`: its run-queue latency.
	virtual void got_cpu(const Thread &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// Counters were read on a CPU; called before the switch that the reading belongs to.
	virtual void counters(const Cpu &, const trace::Event &) {}
	// What a CPU was doing when all CPUs were sampled.
	virtual void sample(const Cpu &, const Thread &, const Sample &) {}
	// A stack was taken; parts of the description of one; what processes have mapped. At all times, because others
	// may refer to it.
	virtual void stack(const Thread &, const StackSample &) {}
	virtual void stack_frames(std::uint64_t /*id*/, std::uint32_t /*first*/, std::span<const std::uint64_t>) {}
	// `cpu`: that described it. `why`: it has no further frame, in words; "": it is complete.
	virtual void stack_end(std::uint32_t /*cpu*/, std::uint64_t /*id*/, std::uint32_t /*frames*/,
			       const std::string & /*why*/)
	{
	}
	virtual void mapping(const MappingToken &) {}
	// The recorder read CLOCK_MONOTONIC at this time.
	virtual void clock_read(std::uint64_t, std::uint64_t) {}
	// At all times, of selected threads.
	virtual void function(const Thread &, const FunctionToken &) {}
	// An event posted by a program, and a loss of events in one of its streams.
	virtual void user_event(const Thread &, const trace::Event &) {}
	virtual void user_gap(const trace::StreamInfo &, std::uint32_t /*process*/) {}
	// A thread has ended, or executes another program: what it was doing in the one before is over. At all times,
	// of selected threads.
	virtual void ended(const Thread &, std::uint64_t /*time*/) {}
	// A thread has ended and is given up, while all that are given up with it are still there: see
	// Machine::forget(). Its place in memory may become another's.
	virtual void forgotten(const Thread &) {}
	// What is known of either thread (by number) now belongs to the other: see Machine::exchange_numbers().
	virtual void exchanged(const Thread &, const Thread &) {}
	// A CPU is unknown from here on, and at least until `to`; so are the threads that run nowhere.
	virtual void lost(const Cpu &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// A CPU went offline at its last token, in which `thread` ran: its switch to the idle thread has no token.
	virtual void went_offline(const Cpu &, const Thread & /*thread*/, std::uint64_t /*time*/) {}
	// `thread` is the one believed to run, or whose tokens contradict each other.
	virtual void contradiction(Contradiction, std::uint64_t /*time*/, std::uint32_t /*cpu*/, const Thread &) {}
};

// Gets each time as the times of CPUs and threads are added up, those of a CPU in order: what is told here sums up
// to them. For pictures (answers/view/).
class TimeObserver {
public:
	virtual ~TimeObserver() = default;
	// By the CPU's current thread; null: who had it is unknown. `is_idle`: the idle thread's, without interrupts.
	virtual void spent(const Cpu &, std::uint64_t /*from*/, std::uint64_t /*to*/, Mode, bool /*is_idle*/) {}
	// This thread had the CPU in the stretches without a thread so far.
	virtual void found(const Cpu &, const Thread &) {}
	// The last `ticks` that the CPU spent in mode `from` turned out to be in mode `to`.
	virtual void moved(const Cpu &, Mode /*from*/, Mode /*to*/, std::uint64_t /*ticks*/) {}
	// A thread was ready and had no CPU.
	virtual void waited(const Thread &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// The CPU was not there.
	virtual void offline(const Cpu &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// A stretch of a loss, which may be empty: nobody will be found to have had the CPU in it or before it.
	virtual void lost(const Cpu &, std::uint64_t /*from*/, std::uint64_t /*to*/) {}
	// A thread slept; `is_over`: until it was woken then, else it still sleeps.
	virtual void slept(const Thread &, std::uint64_t /*from*/, std::uint64_t /*to*/, const Waker &,
			   bool /*is_over*/)
	{
	}
};

class Machine {
public:
	Machine(const Source &source, const RecordingInfo &info, Scope scope = {});
	Machine(const trace::Trace &trace, const RecordingInfo &info, Scope scope = {})
	    : Machine(source_of(trace, info), info, std::move(scope))
	{
	}

	// The same fold at the same point, without the observers: to go back to (answers/play/). What was told of
	// threads is the original's: a copy has threads of its own, at the same places of threads().
	std::unique_ptr<Machine> copy() const;
	// Memory of a copy, about.
	std::size_t copy_bytes() const;

	// A stream that the source did not have yet; its index follows those of the others.
	void add_stream(const trace::StreamInfo &stream);

	// A CPU of which nothing may have been recorded.
	void add_cpu(std::uint32_t number) { cpu(number); }
	// The description that this was made with has further classes of programs.
	void add_classes(const trace::Description &description) { kinds_.add_new(description); }
	// The last moment at which all probes were attached, if the source did not know it.
	void set_last(std::uint64_t time);

	void add(Observer &observer) { observers_.push_back(&observer); }
	void add(TimeObserver &observer) { time_observers_.push_back(&observer); }

	void event(const trace::Event &event);
	// `to`: open_end if that is not known yet; gap_ended() comes before the first event that is not older.
	static constexpr std::uint64_t open_end = ~std::uint64_t(0);
	void gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to);
	void gap_ended(const trace::StreamInfo &stream, std::uint64_t to);
	// What is known of threads that do not run may be wrong: tokens of some CPUs were not fed.
	void forget_others();
	void finish();
	// All before this time was fed: streams of a killed recording that end before it have ended.
	void pass(std::uint64_t time);
	// All up to this time was fed, and nothing later will be: what runs ran until then, in a killed recording, too.
	void end_at(std::uint64_t time);
	// A window ends before `time`: all before it was fed, and nothing else. The usages are then those of a
	// recording that ended there, in a scope from the end of the window before. They start anew with the next one.
	// Not with a range in the scope, nor with observers of times.
	void end_window(std::uint64_t time);
	void begin_window();
	// Gives up threads that have ended, and tells observers, which must not know them any more. `is_gone`: of
	// threads of which a loss may have taken the end. Between the two, or at any time if an observer keeps what
	// they used.
	void forget(const std::function<bool(const Thread &)> &is_gone);
	// The kernel hides this thread, which the list of threads would say if it was fed.
	void hide(std::int32_t tid);

	const std::deque<Thread> &threads() const { return threads_; }
	const std::vector<Cpu> &cpus() const { return cpus_; }
	const EventKinds &kinds() const { return kinds_; }
	std::uint64_t window_begin() const { return begin_; }
	std::uint64_t window_end() const { return end_; }
	const Scope &scope() const { return scope_; }
	// The window is all of the time in which all probes were attached.
	bool is_whole() const { return begin_ == first_ && end_ == last_; }
	// The scope includes the time and the CPU of the event being folded, or, after the last one, the recording's
	// end.
	bool is_counting() const { return is_counting_; }
	std::uint64_t tokens() const { return tokens_; } // without the recorder's own
	std::uint64_t gaps() const { return gaps_; }
	const Periods &periods() const { return periods_; }
	// Until then events may have been lost, programs' too.
	std::uint64_t lossy_until() const
	{
		return open_user_gaps_ ? open_end : std::max(lossy_until_, user_lossy_until_);
	}
	std::uint64_t hidden_threads() const;
	// At this time, or later, a thread that was on no CPU may have run on one of which the events are lost.
	bool may_run_unseen(std::uint64_t time) const { return time < unseen_until_; }
	// System calls of threads that no token names, by call_of(): after a loss, or after a hidden thread.
	const std::map<std::uint32_t, std::uint64_t> &calls_of_unknown() const { return calls_of_unknown_; }
	std::uint64_t functions_of_unknown() const { return functions_of_unknown_; } // entries and exits

	// The leader of a thread's process: its first thread, or the thread itself if that is unknown.
	const Thread &leader(const Thread &thread) const;
	// Threads that had a CPU, whenever, and the leaders of such. The others slept all along, which is no answer to
	// what was waited for.
	std::unordered_set<const Thread *> that_ran() const;
	// The thread that has this number now; null: none was named.
	const Thread *thread(std::int32_t tid) const { return find(tid); }
	// Whether what it is doing is known: its tokens since the last loss report it.
	bool is_known(const Thread &thread) const { return thread.epoch == epoch_ && thread.state != State::unknown; }
	// How the time of a running thread is spent, and that of a CPU whose running thread is known.
	Mode mode_of(const Thread &thread) const;
	Mode mode_on(const Cpu &cpu) const;
	// Time of the window in which the idle thread had a CPU, interrupts included.
	std::uint64_t idle_ticks(const Cpu &cpu) const;
	// Id of the cgroup that a thread is in; 0: unknown.
	std::uint64_t cgroup_of(const Thread &thread) const;
	// By the scope, in the cgroup that it is in.
	bool is_selected(const Thread &thread) const
	{
		return thread.selected && (!scope_.cgroups || scope_.includes_cgroup(cgroup_of(thread)));
	}
	// What a thread used in each cgroup of the scope that it was in: visit(cgroup, usage). The last one is that it
	// is in; without moves it is all.
	template <class Visit> void visit_cgroups(const Thread &thread, Visit &&visit) const
	{
		Usage before;
		const auto visit_until = [&](std::uint64_t cgroup, Usage usage) {
			const Usage until = usage;
			usage -= std::exchange(before, until);
			if (scope_.includes_cgroup(cgroup))
				visit(cgroup, usage);
		};
		for (const CgroupStay &stay : thread.left)
			visit_until(stay.cgroup, stay.so_far);
		visit_until(cgroup_of(thread), thread.usage);
	}

private:
	Machine(const Machine &) = default; // for copy(): the pointers are still the original's

	Thread *find(std::int32_t tid) const;
	Thread &get(std::int32_t tid);
	Thread &fresh(std::int32_t tid);
	Thread &idle(Cpu &cpu);
	Thread &runner(Cpu &cpu, std::int32_t tid);
	Cpu &cpu(std::uint32_t number);
	void was_since_begin(Thread &thread, State state);
	void renew(Thread &thread);
	void forget_ring(Thread &thread) const;
	void forget_unseen(Thread &thread, std::uint64_t time) const;

	void lose(Cpu &cpu, std::uint64_t from, std::uint64_t to);
	void end_streams(std::uint64_t time);
	void take_edge(Thread &thread, Cpu &cpu, std::uint64_t edge_ticks) const;
	void account(Cpu &cpu, std::uint64_t time);
	Ticks ticks(std::uint64_t from, std::uint64_t to) const;
	static void add_unknown_runner(Cpu &cpu, std::uint64_t ticks);
	void leave_unfound(Cpu &cpu) const;
	void tell_lost(const Cpu &cpu, std::uint64_t from, std::uint64_t to) const;
	void tell_spent(const Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode mode, bool is_idle) const;
	void tell_found(const Cpu &cpu, const Thread &thread) const;
	void tell_moved(const Cpu &cpu, Mode from, Mode to, std::uint64_t ticks) const;
	void fault_never_completed(Thread &thread, Cpu &cpu) const;
	void was_in_kernel(Thread &thread, Cpu &cpu) const;
	static void ran(Thread &thread, const Cpu &cpu, Mode mode, const Ticks &ticks);
	void waited(Thread &thread, std::uint64_t from, std::uint64_t to) const;
	void add_interval(Thread &thread, std::uint64_t Usage::*figure, std::uint64_t from, std::uint64_t to) const;
	bool is_followed(std::uint64_t time) const { return time >= first_ && time <= last_; }
	void tell_ended(const Thread &thread, std::uint64_t time);
	void contradict(Contradiction what, std::uint64_t time, const Cpu &cpu, const Thread &thread);

	void identity(const EventKind &kind, const trace::Event &event);
	void on_user(const EventKind &kind, const trace::Event &event);
	void on_born(const EventKind &kind, const trace::Event &event);
	void on_exec(const EventKind &kind, const trace::Event &event);
	void exchange_numbers(Thread &one, Thread &other, std::uint64_t time);
	void suppose_exec(Thread &ran, Thread &left, std::uint64_t time, const Cpu &cpu);
	void contradict_supposed();
	void on_thread_state(const EventKind &kind, const trace::Event &event);
	void on_exit(const EventKind &kind, const trace::Event &event);
	void on_new_thread_woken(const EventKind &kind, const trace::Event &event);
	void on_process_state(const EventKind &kind, const trace::Event &event);
	void on_rename(const EventKind &kind, const trace::Event &event);
	void begin_at(std::uint64_t time);
	void on_cgroup(const EventKind &kind, const trace::Event &event);
	void move(Thread &thread, std::uint64_t cgroup, std::uint64_t time);
	void list_cgroup(Thread &thread, std::uint64_t cgroup, std::uint32_t flags, std::uint64_t time);
	void lead(const Thread &thread);
	void on_counts(const EventKind &kind, const trace::Event &event);
	void on_state_at_start(const EventKind &kind, const trace::Event &event, Thread &thread, std::uint32_t flags);

	void on_found(Thread &thread, Cpu &cpu);
	void on_runs(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void came_unseen(Thread &thread, Cpu &cpu, std::uint64_t time);
	void runs_before_start(const EventKind &kind, const trace::Event &event);
	void named_by_switch(Thread &prev, Thread &next, const EventKind &kind, const trace::Event &event);
	static bool was_offline(const EventKind &kind, const trace::Event &event, const Cpu &cpu);
	void go_offline(Cpu &cpu, std::uint64_t time);
	void come_online(Cpu &cpu, std::uint64_t time);
	void on_switch(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void switch_out(Thread &thread, std::uint32_t state, std::uint64_t time, Cpu &cpu);
	void switch_in(Thread &thread, Cpu &cpu, std::uint64_t time);
	void on_waking(Thread &thread, const Cpu &cpu, std::uint64_t time);
	void end_blocked(Thread &thread, std::uint64_t time, const Waker &waker);
	void settle(Thread &thread, std::uint64_t time);
	Waker waker_on(const Cpu &cpu) const;
	void on_interrupt(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void on_timer(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void on_sys_enter(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void on_sys_exit(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void on_fault(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void on_sample(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void on_stack(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void on_stack_frames(const EventKind &kind, const trace::Event &event);
	void on_stack_end(const EventKind &kind, const trace::Event &event);
	void on_mapping(const EventKind &kind, const trace::Event &event);

	void on_statistics(const EventKind &kind, const trace::Event &event);
	void on_statistics_events(std::uint32_t id, std::uint64_t number);
	void on_statistics_period(const EventKind &kind, const trace::Event &event);
	void on_statistics_cpu(const EventKind &kind, const trace::Event &event);
	void on_statistics_thread(const EventKind &kind, const trace::Event &event);
	void on_statistics_usage(const EventKind &kind, const trace::Event &event);
	void on_statistics_counts(const EventKind &kind, const trace::Event &event);
	void on_statistics_sums(const EventKind &kind, const trace::Event &event);
	void on_statistics_activities(const EventKind &kind, const trace::Event &event);
	void on_statistics_more(const EventKind &kind, const trace::Event &event);
	void on_statistics_open(const EventKind &kind, const trace::Event &event);
	void on_statistics_buckets(const EventKind &kind, const trace::Event &event);
	Thread &statistics_row(const EventKind &kind, const trace::Event &event);
	void tell_summed();

	EventKinds kinds_;
	std::vector<Observer *> observers_;
	std::vector<TimeObserver *> time_observers_;
	std::deque<Thread> threads_;
	std::vector<std::uint32_t> free_; // places in threads_ of those that were given up
	TidTable<Thread *> by_tid_;
	std::vector<Thread *> idle_; // by CPU
	std::vector<Cpu> cpus_;
	struct Writer {
		std::int32_t tid = -1;
		std::int32_t process = -1;
	};
	std::vector<Writer> writers_; // of user streams, by stream index
	Scope scope_;
	std::uint64_t first_ = 0, last_ = 0; // all probes were attached
	std::uint64_t begin_ = 0, end_ = 0;  // of the window
	bool is_counting_ = false, is_finishing_ = false;
	std::uint64_t user_lossy_until_ = 0, open_user_gaps_ = 0; // of programs' streams
	std::uint64_t tokens_ = 0, gaps_ = 0, lossy_until_ = 0, functions_of_unknown_ = 0;
	std::map<std::uint32_t, std::uint64_t> calls_of_unknown_;
	struct StreamEnd {
		std::uint64_t time;
		std::uint32_t cpu;
	};
	std::vector<StreamEnd> ends_; // killed recording: where each CPU's tokens end, the earliest last
	std::uint64_t next_end_ = ~0ull;
	std::uint64_t unseen_until_ = 0; // the last gap of a CPU
	bool has_untimed_ = false;       // perf's: events at time 0 list what was there at the start
	// Kernel time of a system call and of a fault outside their two tokens, by calibration.
	std::uint64_t call_edge_ = 0, fault_edge_ = 0;
	std::uint32_t epoch_ = 1;
	std::int64_t command_pid_ = 0;
	bool wakings_recorded_ = false;
	bool is_snapshot_ = false;    // of a flight recorder
	bool calls_bracketed_ = true; // system calls are in the trace
	bool user_bracketed_ = true;  // and faults are too
	bool all_bracketed_ = true; // and interrupts, and none was left out: without a token nobody entered the kernel
	bool filtering_ = false;
	bool interrupts_recorded_ = true;
	bool complete_ = false;
	bool gaps_coincide_ = false; // a gap is of all CPUs, and over when one of them has a token
	bool hides_threads_ = false; // the kernel, some of them
	bool runners_found_ = false; // calls and faults say who runs where the switch was not seen

	// Exchanges of numbers of threads whose processes are not told, which only the token of an exec will show to
	// be.
	struct SupposedExec {
		std::int32_t tid, old_tid;
		std::uint64_t time;
		std::uint32_t cpu;
	};
	std::vector<SupposedExec> supposed_execs_;
	std::uint64_t longest_exec_ = 0; // ticks

	Periods periods_;
	// The period of statistics that is being read.
	struct Period {
		std::uint64_t begin = 0, end = 0;
		bool is_counted = false; // the window includes it
		std::vector<Thread *> rows;
		// What the buckets that follow belong to; null: nothing.
		const Thread *of = nullptr;
		Kind kind = Kind::other;
		std::uint32_t call = 0, caller = 0; // `call`: or the activity
		Waker waker;
		Summed summed;
	} period_;
	std::map<std::tuple<bool, std::string, std::uint64_t>, Thread *> sums_; // by kind, command and cgroup
};

// Feeds a whole trace. Returns what was lost.
trace::Losses fold(trace::Trace &trace, Machine &machine);

} // namespace monitor::analyze
