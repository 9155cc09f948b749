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

	// The same fold at the same point, without observers: to go back to (answers/play/). Fed the same events, it
	// ends in the same states. Observers of the original have pointers to the original's threads; the copy's are at
	// the same indices of threads().
	std::unique_ptr<ThreadFold> copy() const;
	// Memory of a copy, approximately.
	std::size_t copy_bytes() const;

	// Adds a stream that the input did not have; its index is the next one.
	void add_stream(const trace::StreamInfo &stream);

	// Adds a CPU, which may have no events.
	void add_cpu(std::uint32_t number) { times_.cpu(number); }
	// The description that this was made with has new classes of programs.
	void add_classes(const trace::Description &description) { kinds_.add_new(description); }
	// Sets the last moment at which all probes were attached, if the input did not have it.
	void set_last(std::uint64_t time) { times_.set_last(time); }

	void add(Observer &observer) { observers_.push_back(&observer); }
	void add(TimeObserver &observer) { times_.add(observer); }

	void event(const trace::Event &event);
	// `to`: open_end if it is not known yet; then gap_ended() comes before the first event at or after the end.
	static constexpr std::uint64_t open_end = LossBounds::open_end;
	void gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to);
	void gap_ended(const trace::StreamInfo &stream, std::uint64_t to);
	// Tokens of some CPUs were not fed: what is known of threads that do not run may be wrong.
	void forget_others() { threads_.lose_others(cpus()); }
	void finish();
	// All before this time was fed: ends streams of a killed recording whose last packet is before it.
	void pass(std::uint64_t time)
	{
		if (time > next_end_)
			end_streams(time);
	}
	// All up to this time was fed, and nothing later will be: what is running ran until then, also in a killed
	// recording.
	void end_at(std::uint64_t time);
	// Ends a window before `time`: all before that was fed, and nothing else. Usages are then those of a recording
	// that ended there, in a scope from the end of the window before, and start anew with the next window. Not with
	// a range in the scope, nor with observers of times.
	void end_window(std::uint64_t time) { times_.end_window(time, threads_, throttles_); }
	void begin_window();
	// Removes threads that have ended, after notifying observers, which must drop references to them. `is_gone`:
	// for threads whose end may have been lost. Called between end_window() and begin_window(), or at any time if
	// an observer keeps usages.
	void forget(const std::function<bool(const Thread &)> &is_gone);
	// The kernel hides this thread: for callers that do not feed the list of threads, which says so.
	void hide(std::int32_t tid) { threads_.get(tid).hidden = true; }

	const std::deque<Thread> &threads() const { return threads_.all(); }
	const std::vector<Cpu> &cpus() const { return times_.cpus(); }
	const EventKinds &kinds() const { return kinds_; }
	std::uint64_t window_begin() const { return times_.begin(); }
	std::uint64_t window_end() const { return times_.end(); }
	const Scope &scope() const { return settings_->scope; }
	// The window is all the time in which all probes were attached.
	bool is_whole() const { return times_.is_whole(); }
	// The scope includes the time and the CPU of the current event or, after the last one, of the recording's end.
	bool is_counting() const { return is_counting_; }
	std::uint64_t tokens() const { return tokens_ + statistics_.tokens(); } // without the recorder's own
	std::uint64_t gaps() const { return losses_.gaps(); }
	const Periods &periods() const { return statistics_.periods(); }
	// Until then events may have been lost, those of programs included.
	std::uint64_t lossy_until() const { return losses_.lossy_until(); }
	std::uint64_t hidden_threads() const { return threads_.hidden(); }
	// From this time on, a thread on no CPU may have run on one whose events are lost.
	bool may_run_unseen(std::uint64_t time) const { return losses_.may_run_unseen(time); }
	// System calls, by call_of(), of threads that no token identifies: after a loss, or after a hidden thread.
	const std::map<std::uint32_t, std::uint64_t> &calls_of_unknown() const { return calls_of_unknown_; }
	std::uint64_t functions_of_unknown() const { return functions_of_unknown_; } // entries and exits

	// The leader of a thread's process: its first thread, or the thread itself if that is unknown.
	const Thread &leader(const Thread &thread) const { return threads_.leader(thread); }
	// Threads that ever had a CPU, and their leaders. The others slept all along, which does not explain a wait.
	std::unordered_set<const Thread *> scheduled_threads() const { return threads_.scheduled(); }
	// The thread that has this number now; null: no token named it.
	const Thread *thread(std::int32_t tid) const { return threads_.find(tid); }
	// Whether the thread's state is known: it has had a token since the last loss.
	bool is_known(const Thread &thread) const { return threads_.is_known(thread); }
	// The mode of a CPU whose running thread is known.
	Mode mode_on(const Cpu &cpu) const { return times_.mode_on(cpu); }
	// Time of the window in which the idle thread was on the CPU, interrupts included.
	std::uint64_t idle_ticks(const Cpu &cpu) const
	{
		const Thread *idle = threads_.find_idle(cpu);
		return cpu.idle + (idle ? idle->usage.cpu() : 0);
	}
	// Id of the thread's cgroup; 0: unknown.
	std::uint64_t cgroup_of(const Thread &thread) const { return threads_.cgroup_of(thread); }
	// By the scope, in its current cgroup.
	bool is_selected(const Thread &thread) const { return threads_.is_selected(thread); }
	// A thread's usage in each of its cgroups that the scope includes: visit(cgroup, usage). The last is its
	// current one; a thread that did not move has only that.
	template <class Visit> void visit_cgroups(const Thread &thread, Visit &&visit) const
	{
		threads_.visit_cgroups(thread, std::forward<Visit>(visit));
	}

private:
	ThreadFold(const ThreadFold &) = default; // for copy(): pointers are still the original's

	StatisticsReplay::Target statistics_target() { return {threads_, times_, losses_, observers_}; }
	void lose(Cpu &cpu, std::uint64_t from, std::uint64_t to);
	void end_streams(std::uint64_t time);
	// The thread is on no CPU since `time`. Within a loss it may run unseen: its state is unknown until its next
	// token.
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
	void contradict_unconfirmed();
	void on_thread_state(const EventKind &kind, const trace::Event &event);
	void on_state_at_start(const EventKind &kind, const trace::Event &event, Thread &thread, std::uint32_t flags);

	void on_found(Thread &thread, Cpu &cpu);
	void on_thread_runs(const EventKind &kind, const trace::Event &event, Cpu &cpu);
	void contradict_runner(const Thread &runs, std::uint64_t time, const Cpu &cpu);
	void leave_unseen(Thread &thread, std::uint64_t time, const Cpu &cpu);
	void enter_unseen(Thread &thread, Cpu &cpu, std::uint64_t time);
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
	bool is_untimed_; // no event has had a time so far
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
	std::vector<StreamEnd> ends_; // of a killed recording: where each CPU's tokens end, latest first
	std::uint64_t next_end_ = ~0ull;
};

// Feeds a whole trace. Returns what was lost.
trace::Losses feed(trace::Trace &trace, ThreadFold &fold);

} // namespace monitor::analyze
