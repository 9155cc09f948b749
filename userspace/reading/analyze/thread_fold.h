// SPDX-License-Identifier: MIT
// The fold: turns events, in time order, into states of threads and CPUs, and the states into times.
//
// feed(trace, fold) gives it all events and gaps; then threads() and cpus() have the result. The events need not come
// from files: what must be known ahead of them is a FoldInput (fold_input.h). Observers (observer.h) get finished
// intervals (system calls, blocked times) and contradictions between tokens as they occur.
//
// Its parts: thread_table.h has the threads, time_account.h the CPUs and the times, loss_bounds.h how far losses reach,
// exec_exchange.h who has a number after an exec, throttles.h which groups are throttled, statistics_replay.h a
// recording that has sums instead of events, fold_settings.h what the recording covers. Here are the transitions: what
// each token changes. Next in the flow: answers/report/usage_report.cpp, reading/activities/tracker.cpp, check.cpp.
//
// The rules: time between two tokens of a CPU belongs to what ran there then. Only tokens say what ran: a loss makes
// every state unknown until a token determines it; kernel time without brackets is unattributed, never user time. As
// long as a CPU's events are lost, a thread that is on no CPU may run there unseen, so its state is unknown.
// States are followed while all probes were attached. Counted are times within the window: that part of it which the
// scope (scope.h) includes.
// Invariant: the sum of a CPU's times is its window; one thread feeds it, in time order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "event_kinds.h"
#include "exec_exchange.h"
#include "fold_input.h"
#include "fold_settings.h"
#include "loss_bounds.h"
#include "observer.h"
#include "reading/events/gap.h"
#include "reading/events/trace.h"
#include "recording_info.h"
#include "scope.h"
#include "statistics_replay.h"
#include "thread.h"
#include "thread_table.h"
#include "throttles.h"
#include "time_account.h"

namespace monitor::analyze {

class ThreadFold {
public:
	ThreadFold(const FoldInput &input, const RecordingInfo &info, Scope scope = {});
	ThreadFold(const trace::Trace &trace, const RecordingInfo &info, Scope scope = {})
	    : ThreadFold(input_of(trace, info), info, std::move(scope))
	{
	}

	// The same fold at the same point, without the observers: to go back to (answers/play/). Fed the same events,
	// it ends in the same states. What observers got points to the original's threads: a copy has its own, at the
	// same indices of threads().
	std::unique_ptr<ThreadFold> copy() const;
	// Memory of a copy, about.
	std::size_t copy_bytes() const;

	// A stream that the input did not have yet; its index follows those of the others.
	void add_stream(const trace::StreamInfo &stream);

	// A CPU of which nothing may have been recorded.
	void add_cpu(std::uint32_t number) { times_.cpu(number); }
	// The description that this was made with has further classes of programs.
	void add_classes(const trace::Description &description) { kinds_.add_new(description); }
	// The last moment at which all probes were attached, if the input did not have it.
	void set_last(std::uint64_t time) { times_.set_last(time); }

	void add(Observer &observer) { observers_.push_back(&observer); }
	void add(TimeObserver &observer) { times_.add(observer); }

	void event(const trace::Event &event);
	// `to`: open_end if that is not known yet; gap_ended() comes before the first event that is not older.
	static constexpr std::uint64_t open_end = LossBounds::open_end;
	void gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to);
	void gap_ended(const trace::StreamInfo &stream, std::uint64_t to);
	// What is known of threads that do not run may be wrong: tokens of some CPUs were not fed.
	void forget_others() { threads_.lose_others(cpus()); }
	void finish();
	// All before this time was fed: streams of a killed recording that end before it have ended.
	void pass(std::uint64_t time)
	{
		if (time > next_end_)
			end_streams(time);
	}
	// All up to this time was fed, and nothing later will be: what runs ran until then, in a killed recording, too.
	void end_at(std::uint64_t time);
	// A window ends before `time`: all before it was fed, and nothing else. The usages are then those of a
	// recording that ended there, in a scope from the end of the window before. They start anew with the next one.
	// Not with a range in the scope, nor with observers of times.
	void end_window(std::uint64_t time) { times_.end_window(time, threads_, throttles_); }
	void begin_window();
	// Gives up threads that have ended, and notifies observers, which must not know them any more. `is_gone`: of
	// threads whose end may have been lost. Between the two, or at any time if an observer keeps what
	// they used.
	void forget(const std::function<bool(const Thread &)> &is_gone);
	// The kernel hides this thread, which the list of threads would say if it was fed.
	void hide(std::int32_t tid) { threads_.get(tid).hidden = true; }

	const std::deque<Thread> &threads() const { return threads_.all(); }
	const std::vector<Cpu> &cpus() const { return times_.cpus(); }
	const EventKinds &kinds() const { return kinds_; }
	std::uint64_t window_begin() const { return times_.begin(); }
	std::uint64_t window_end() const { return times_.end(); }
	const Scope &scope() const { return settings_->scope; }
	// The window is all of the time in which all probes were attached.
	bool is_whole() const { return times_.is_whole(); }
	// The scope includes the time and the CPU of the event being folded, or, after the last one, the recording's
	// end.
	bool is_counting() const { return is_counting_; }
	std::uint64_t tokens() const { return tokens_ + statistics_.tokens(); } // without the recorder's own
	std::uint64_t gaps() const { return losses_.gaps(); }
	const Periods &periods() const { return statistics_.periods(); }
	// Until then events may have been lost, programs' too.
	std::uint64_t lossy_until() const { return losses_.lossy_until(); }
	std::uint64_t hidden_threads() const { return threads_.hidden(); }
	// At this time, or later, a thread that was on no CPU may have run on one of which the events are lost.
	bool may_run_unseen(std::uint64_t time) const { return losses_.may_run_unseen(time); }
	// System calls of threads that no token names, by call_of(): after a loss, or after a hidden thread.
	const std::map<std::uint32_t, std::uint64_t> &calls_of_unknown() const { return calls_of_unknown_; }
	std::uint64_t functions_of_unknown() const { return functions_of_unknown_; } // entries and exits

	// The leader of a thread's process: its first thread, or the thread itself if that is unknown.
	const Thread &leader(const Thread &thread) const { return threads_.leader(thread); }
	// Threads that had a CPU, whenever, and the leaders of such. The others slept all along, which is no answer to
	// what was waited for.
	std::unordered_set<const Thread *> scheduled_threads() const { return threads_.scheduled(); }
	// The thread that has this number now; null: none was named.
	const Thread *thread(std::int32_t tid) const { return threads_.find(tid); }
	// Whether what it is doing is known: its tokens since the last loss report it.
	bool is_known(const Thread &thread) const { return threads_.is_known(thread); }
	// How the time of a CPU whose running thread is known is spent.
	Mode mode_on(const Cpu &cpu) const { return times_.mode_on(cpu); }
	// Time of the window in which the idle thread had a CPU, interrupts included.
	std::uint64_t idle_ticks(const Cpu &cpu) const
	{
		const Thread *idle = threads_.find_idle(cpu);
		return cpu.idle + (idle ? idle->usage.cpu() : 0);
	}
	// Id of the cgroup that a thread is in; 0: unknown.
	std::uint64_t cgroup_of(const Thread &thread) const { return threads_.cgroup_of(thread); }
	// By the scope, in the cgroup that it is in.
	bool is_selected(const Thread &thread) const { return threads_.is_selected(thread); }
	// What a thread used in each cgroup of the scope that it was in: visit(cgroup, usage). The last one is that it
	// is in; without moves it is all.
	template <class Visit> void visit_cgroups(const Thread &thread, Visit &&visit) const
	{
		threads_.visit_cgroups(thread, std::forward<Visit>(visit));
	}

private:
	ThreadFold(const ThreadFold &) = default; // for copy(): the pointers are still the original's

	StatisticsReplay::Target statistics_target() { return {threads_, times_, losses_, observers_}; }
	void lose(Cpu &cpu, std::uint64_t from, std::uint64_t to);
	void end_streams(std::uint64_t time);
	// It is on no CPU since `time`. Within a loss it may run unseen: nothing is known until its next token.
	void forget_unseen(Thread &thread, std::uint64_t time) const
	{
		if (may_run_unseen(time))
			ThreadTable::forget(thread);
	}
	void notify_ended(const Thread &thread, std::uint64_t time);
	void contradict(Contradiction what, std::uint64_t time, const Cpu &cpu, const Thread &thread);

	void on_any_time(const EventKind &kind, const trace::Event &event);
	void on_user(const EventKind &kind, const trace::Event &event);
	void on_born(const EventKind &kind, const trace::Event &event);
	void on_new_thread_woken(const EventKind &kind, const trace::Event &event);
	void on_exec(const EventKind &kind, const trace::Event &event);
	void exchange_numbers(Thread &one, Thread &other, std::uint64_t time);
	void take_over(Thread &thread, Thread &before, std::uint64_t time);
	void contradict_supposed();
	void on_thread_state(const EventKind &kind, const trace::Event &event);
	void on_state_at_start(const EventKind &kind, const trace::Event &event, Thread &thread, std::uint32_t flags);

	void on_found(Thread &thread, Cpu &cpu);
	void on_runs(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void doubt_runner(const Thread &runs, std::uint64_t time, const Cpu &cpu);
	void came_unseen(Thread &thread, Cpu &cpu, std::uint64_t time);
	void runs_before_start(const EventKind &kind, const trace::Event &event);
	static bool was_offline(const EventKind &kind, const trace::Event &event, const Cpu &cpu);
	void go_offline(Cpu &cpu, std::uint64_t time);
	void come_online(Cpu &cpu, std::uint64_t time);
	void on_switch(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void switch_out(Thread &thread, std::uint32_t state, bool is_throttled, std::uint64_t time, Cpu &cpu);
	void switch_in(Thread &thread, Cpu &cpu, std::uint64_t time);
	void on_waking(Thread &thread, const Cpu &cpu, std::uint64_t time);
	void waited(Thread &thread, std::uint64_t from, std::uint64_t to);
	void note_queue(Thread &thread, const trace::FieldRef &cpu, const trace::Event &event) const;
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
	void on_function(const EventKind &kind, const trace::Event &event, const Cpu &cpu);

	EventKinds kinds_;
	std::shared_ptr<const FoldSettings> settings_;
	ThreadTable threads_;
	TimeAccount times_;
	LossBounds losses_;
	StatisticsReplay statistics_;
	ExecExchange execs_;
	Throttles throttles_;
	std::vector<Observer *> observers_;
	bool is_counting_ = false;
	bool is_untimed_; // no event with a time so far
	std::uint64_t tokens_ = 0, functions_of_unknown_ = 0;
	std::map<std::uint32_t, std::uint64_t> calls_of_unknown_;

	struct Writer {
		std::int32_t tid = -1;
		std::int32_t process = -1;
	};
	std::vector<Writer> writers_; // of user streams, by stream index

	struct StreamEnd {
		std::uint64_t time;
		std::uint32_t cpu;
	};
	std::vector<StreamEnd> ends_; // killed recording: where each CPU's tokens end, the earliest last
	std::uint64_t next_end_ = ~0ull;
};

// Feeds a whole trace. Returns what was lost.
trace::Losses feed(trace::Trace &trace, ThreadFold &fold);

} // namespace monitor::analyze
