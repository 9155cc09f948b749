// SPDX-License-Identifier: MIT
// A trace's kernel events in the terms of other kernel tracers: which thread ran, what it was called, which system call
// ends. Fed by converters; each gives a KernelTarget, which writes the events in its format.
//
//     merge() -> KernelFeed -> ThreadFold (states, names)
//                    |
//                    +-> KernelTarget: perfetto_ftrace.cpp, lttng.cpp
//
// Tokens have no names and short ones no numbers; KernelFeed adds what the fold (reading/analyze/thread_fold.h) knows
// of them. What the fold does not know is unknown here, too: which thread runs on a CPU after a loss, for example.
// Events outside of the fold's window and scope are not passed on, and counted. One thread.
// Invariant: times that a target gets never step back, except `since` of runs().
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reading/analyze/thread_fold.h"
#include "reading/events/event.h"
#include "reading/events/field_ref.h"
#include "reading/events/gap.h"
#include "reading/events/trace.h"

namespace monitor::exporting {

// A thread as other tracers name it: thread 0 of each CPU is its swapper.
struct Task {
	static constexpr std::int32_t unknown = -1;

	std::int32_t tid = unknown;
	std::string_view name;
};

// Where and when an event happened, and which thread ran there.
struct EventContext {
	std::uint64_t time = 0; // ticks
	std::uint32_t cpu = 0;
	Task task;
	bool in_irq = false, in_softirq = false;
};

struct NewThread {
	Task task;
	std::int32_t tgid = 0, parent_tid = 0;
	std::int32_t prio = -1;
	std::uint32_t target_cpu = 0;
};

// What a target did not write, by event name.
using LeftOut = std::map<std::string, std::uint64_t>;

class KernelTarget {
public:
	virtual ~KernelTarget() = default;
	// A thread that exists already.
	virtual void thread(std::uint64_t time, const analyze::Thread &thread) = 0;
	// The CPU turned out to have run this thread since an earlier time.
	virtual void runs(const EventContext &at, std::uint64_t since) = 0;
	// From now on the CPU's thread is unknown.
	virtual void unknown(std::uint64_t time, std::uint32_t cpu) = 0;
	// The CPU's events in this time are incomplete.
	virtual void lost(std::uint32_t cpu, const trace::Gap &gap) = 0;
	// `at.task` is the thread that ran until now.
	virtual void sched_switch(const EventContext &at, std::int64_t state, const Task &next) = 0;
	virtual void sched_waking(const EventContext &at, const Task &woken, std::int32_t prio,
				  std::uint32_t target_cpu) = 0;
	virtual void created(const EventContext &at, const NewThread &thread) = 0;
	virtual void executed(const EventContext &at, const Task &task, std::int32_t old_tid) = 0;
	virtual void exited(const EventContext &at, const Task &task, std::int32_t tgid) = 0;
	virtual void renamed(const EventContext &at, const Task &task, std::string_view old_name) = 0;
	virtual void softirq(const EventContext &at, bool is_entry, std::uint32_t number) = 0;
	// Any other interrupt: `name` is irq_handler, local_timer ...
	virtual void irq(const EventContext &at, bool is_entry, const std::string &name, std::uint32_t number) = 0;
	// `call`: analyze::call_of().
	virtual void sys_enter(const EventContext &at, std::uint32_t call) = 0;
	virtual void sys_exit(const EventContext &at, std::uint32_t call, std::int64_t result) = 0;
	// A kernel event without a meaning for the fold. False: the target cannot express it.
	virtual bool other(const EventContext &at, const trace::Event &event) = 0;
	// The recorder read the machine's clocks at this time of the trace.
	virtual void clocks(std::uint64_t time, std::optional<std::uint64_t> monotonic_ns,
			    std::uint64_t realtime_ns) = 0;
};

class KernelFeed : private analyze::Observer {
public:
	// The fold must outlive it. Reads the recorder's own streams first, as hidden threads may be listed long after
	// they ran.
	KernelFeed(trace::Trace &trace, analyze::ThreadFold &fold, KernelTarget &target);

	void event(const trace::Event &event);
	void gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost);

	// After the last event. `is_complete`: the recording ended cleanly; else what followed a CPU's last token is
	// missing.
	void finish(bool is_complete);

	// Number of events passed on, without the list of threads.
	std::uint64_t events() const { return events_; }
	LeftOut left_out() const;
	// Number of counter readings in the selected part, which observers of the fold may write.
	std::uint64_t readings() const { return readings_; }
	std::uint64_t events_of_programs() const { return events_of_programs_; } // not passed on
	std::uint64_t outside() const { return outside_; } // not selected, or while not all probes were attached
	const trace::Losses &losses() const { return losses_; }

private:
	struct ExtraFields { // fields that the fold does not need
		trace::FieldRef prio, target_cpu, realtime;
	};
	struct AssumedCpu { // what the target assumes of a CPU
		std::int32_t tid = Task::unknown;
		std::uint64_t since = 0;
	};

	void hide_threads(trace::Trace &trace);
	void lost(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to) override;
	AssumedCpu &assumed(std::uint32_t cpu);
	bool is_selected(std::uint64_t time, std::uint32_t cpu) const;
	EventContext context_of(const trace::Event &event);
	Task task(const analyze::Thread *thread, std::uint32_t cpu);
	Task task(std::int32_t tid, std::uint32_t cpu);
	Task running(const analyze::Thread *thread, std::uint32_t cpu);
	void recorder_event(const trace::Event &event, const analyze::EventKind &kind);
	void list_threads(std::uint64_t time);
	void update_running(const EventContext &at);
	void update_running_until(std::uint32_t cpu, std::uint64_t time, const Task &runs);
	std::uint32_t call_before(const trace::Event &event);
	void pass_switch(const trace::Event &event, const analyze::EventKind &kind, EventContext at);
	bool pass_call(const trace::Event &event, const analyze::EventKind &kind, const EventContext &at,
		       std::uint32_t call);
	bool pass_thread(const trace::Event &event, const analyze::EventKind &kind, const EventContext &at);
	bool pass_on(const trace::Event &event, const analyze::EventKind &kind, const EventContext &at,
		     std::uint32_t call);

	const trace::Description &description_;
	analyze::ThreadFold &fold_;
	KernelTarget &target_;
	std::vector<ExtraFields> extra_;               // by class index
	std::vector<AssumedCpu> assumed_;              // by CPU
	std::deque<std::string> idle_names_;           // by CPU
	std::vector<std::uint64_t> left_out_by_class_; // by class index
	std::string old_name_;
	std::uint64_t events_ = 0, outside_ = 0, readings_ = 0, events_of_programs_ = 0;
	bool is_listed_ = false;
	trace::Losses losses_;
};

} // namespace monitor::exporting
