// SPDX-License-Identifier: MIT
#include "kernel_feed.h"

#include <algorithm>

#include "monitor/syscall_arg.h"
#include "reading/events/pull.h"

namespace monitor::exporting {

using analyze::EventKind;
using analyze::EventMeaning;

KernelFeed::KernelFeed(trace::Trace &trace, analyze::ThreadFold &fold, KernelTarget &target)
    : description_(trace.description()), fold_(fold), target_(target), extra_(description_.classes().size()),
      left_out_by_class_(description_.classes().size())
{
	for (const auto &cls : description_.classes())
		extra_[cls->index] = {trace::FieldRef(*cls, "prio"), trace::FieldRef(*cls, "target_cpu"),
				      trace::FieldRef(*cls, "realtime")};
	fold.add(static_cast<analyze::Observer &>(*this));
	hide_threads(trace);
}

// A thread number that was first listed for another thread is not hidden from the start.
void KernelFeed::hide_threads(trace::Trace &trace)
{
	std::map<std::int32_t, bool> is_hidden;
	trace::Pull pull(trace, {}, [](const trace::Stream &stream) { return stream.info().is_recorder(); });
	for (auto item = pull.next(); item != trace::Cursor::Item::end; item = pull.next()) {
		if (item != trace::Cursor::Item::event)
			continue;
		const EventKind &kind = fold_.kinds()[*pull.event().cls];
		if (kind.kind == EventMeaning::thread_state)
			is_hidden.try_emplace(kind.field[1].get<std::int32_t>(pull.event()),
					      kind.field[8].get<std::uint32_t>(pull.event()) & EDC_THREAD_HIDDEN);
	}
	for (const auto &[tid, hidden] : is_hidden)
		if (hidden)
			fold_.hide(tid);
}

KernelFeed::AssumedCpu &KernelFeed::assumed(std::uint32_t cpu)
{
	while (assumed_.size() <= cpu) {
		idle_names_.push_back("swapper/" + std::to_string(assumed_.size()));
		assumed_.push_back({Task::unknown, fold_.window_begin()});
	}
	return assumed_[cpu];
}

Task KernelFeed::task(const analyze::Thread *thread, std::uint32_t cpu)
{
	if (!thread)
		return {};
	assumed(cpu);
	return thread->tid == 0 ? Task{0, idle_names_[cpu]} : Task{thread->tid, thread->name};
}

Task KernelFeed::task(std::int32_t tid, std::uint32_t cpu)
{
	assumed(cpu);
	if (tid == 0)
		return {0, idle_names_[cpu]};
	const analyze::Thread *thread = fold_.thread(tid);
	return {tid, thread ? std::string_view(thread->name) : std::string_view()};
}

// When a hidden thread is switched out is unknown, so what runs on its CPU is unknown, too.
Task KernelFeed::running(const analyze::Thread *thread, std::uint32_t cpu)
{
	return thread && thread->hidden ? Task{} : task(thread, cpu);
}

bool KernelFeed::is_selected(std::uint64_t time, std::uint32_t cpu) const
{
	return time >= fold_.window_begin() && time <= fold_.window_end() && fold_.scope().includes_cpu(cpu);
}

EventContext KernelFeed::context_of(const trace::Event &event)
{
	const analyze::Cpu &cpu = fold_.cpus()[event.cpu()];
	EventContext at{event.time, cpu.number, running(cpu.current, cpu.number), false, false};
	for (const std::uint32_t each : cpu.interrupts)
		(fold_.kinds().is_softirq(each >> 16) ? at.in_softirq : at.in_irq) = true;
	return at;
}

// Passes on what the fold found out about the CPU's thread without a switch.
void KernelFeed::update_running(const EventContext &at)
{
	AssumedCpu &known = assumed(at.cpu);
	if (known.tid == at.task.tid)
		return;
	if (at.task.tid == Task::unknown)
		target_.unknown(at.time, at.cpu);
	else
		target_.runs(at, known.tid == Task::unknown ? std::min(known.since, at.time) : at.time);
	known = {at.task.tid, at.time};
}

// The selected part does not show what the CPU ran, but what precedes or follows it does.
void KernelFeed::update_running_until(std::uint32_t cpu, std::uint64_t time, const Task &runs)
{
	const std::uint64_t end = std::min(time, fold_.window_end());
	if (runs.tid == Task::unknown || assumed(cpu).tid != Task::unknown || assumed(cpu).since >= end ||
	    !is_selected(end, cpu))
		return;
	if (!is_listed_)
		list_threads(fold_.window_begin());
	update_running({end, cpu, runs, false, false});
}

// Called by the fold, also where streams of a killed recording end.
void KernelFeed::lost(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to)
{
	AssumedCpu &known = assumed(cpu.number);
	if (known.tid != Task::unknown && is_selected(from, cpu.number))
		target_.unknown(from, cpu.number);
	known = {Task::unknown, std::max(to, fold_.window_begin())};
}

void KernelFeed::gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost)
{
	fold_.gap(stream, from, to);
	losses_.add(lost);
	if (!stream.has_cpu() || stream.is_user() || !fold_.scope().includes_cpu(stream.cpu))
		return;
	if (to < fold_.window_begin() || from > fold_.window_end())
		return;
	target_.lost(stream.cpu, {std::max(from, fold_.window_begin()), std::min(to, fold_.window_end()), lost});
}

// All threads known at the first event; others are created later, or listed.
void KernelFeed::list_threads(std::uint64_t time)
{
	is_listed_ = true;
	for (const analyze::Thread &thread : fold_.threads())
		if (thread.tid != 0 && !(thread.hidden && thread.name.empty()))
			target_.thread(time, thread);
}

void KernelFeed::recorder_event(const trace::Event &event, const EventKind &kind)
{
	fold_.event(event);
	if (kind.kind == EventMeaning::sync)
		target_.clocks(event.time, kind.field[0].get(event), extra_[event.cls->index].realtime.get(event));
	if (kind.kind != EventMeaning::thread_state || !is_listed_)
		return;
	const analyze::Thread *thread = fold_.thread(kind.field[1].get<std::int32_t>(event));
	if (!thread)
		return;
	target_.thread(event.time, *thread);
	// The CPU may have no other token.
	const auto cpu = kind.field[4].get<std::uint32_t>(event);
	if (cpu < fold_.cpus().size() && fold_.cpus()[cpu].current == thread && is_selected(event.time, cpu))
		update_running({event.time, cpu, running(thread, cpu), false, false});
}

void KernelFeed::event(const trace::Event &event)
{
	const EventKind &kind = fold_.kinds()[*event.cls];
	if (event.stream->is_recorder())
		return recorder_event(event, kind);
	if (event.stream->is_user() || event.cls->domain == trace::Domain::user) {
		events_of_programs_ += !event.is_control();
		return fold_.event(event);
	}
	if (!event.has_cpu()) {
		left_out_by_class_[event.cls->index] += !event.is_control();
		return fold_.event(event);
	}
	const std::uint32_t call = call_before(event);
	if (kind.kind == EventMeaning::task_rename)
		old_name_ = task(kind.field[0].get<std::int32_t>(event), 0).name;
	fold_.event(event);
	if (event.is_control())
		return;
	if (event.cpu() >= fold_.cpus().size() || !is_selected(event.time, event.cpu())) {
		++outside_;
		if (event.time > fold_.window_end() && event.cpu() < fold_.cpus().size())
			update_running_until(event.cpu(), event.time,
					     kind.kind == EventMeaning::sched_switch
						 ? task(kind.field[1].get<std::int32_t>(event), event.cpu())
						 : running(fold_.cpus()[event.cpu()].current, event.cpu()));
		return;
	}
	if (kind.kind == EventMeaning::counters) {
		++readings_;
		return;
	}
	if (!is_listed_)
		list_threads(event.time);
	EventContext at = context_of(event);
	if (kind.kind == EventMeaning::sched_switch) {
		pass_switch(event, kind, at);
	} else {
		update_running(at);
		if (kind.kind != EventMeaning::thread_runs && !pass_on(event, kind, at, call)) {
			++left_out_by_class_[event.cls->index];
			return;
		}
	}
	++events_;
}

// Returns the call that the event may end: that of the thread that ran until now.
std::uint32_t KernelFeed::call_before(const trace::Event &event)
{
	const std::uint32_t cpu = event.cpu();
	const analyze::Thread *runs = cpu < fold_.cpus().size() ? fold_.cpus()[cpu].current : nullptr;
	if (!runs)
		return EDC_NO_SYSCALL;
	if (runs->hidden) // the time until now belongs to it
		assumed(cpu).since = std::max(event.time, fold_.window_begin());
	if (event.time > fold_.window_end())
		update_running_until(cpu, event.time, running(runs, cpu));
	if (assumed(cpu).tid == Task::unknown && is_selected(event.time, cpu))
		update_running({event.time, cpu, running(runs, cpu), false, false});
	return fold_.is_known(*runs) ? runs->syscall : EDC_NO_SYSCALL;
}

void KernelFeed::pass_switch(const trace::Event &event, const EventKind &kind, EventContext at)
{
	at.task = task(kind.field[1].get<std::int32_t>(event), at.cpu);
	update_running(at);
	const auto tid = kind.field[2].get<std::int32_t>(event);
	const analyze::Thread *thread = tid ? fold_.thread(tid) : nullptr;
	const Task next = thread && thread->hidden ? Task{} : task(tid, at.cpu);
	target_.sched_switch(at, kind.field[0].get<std::int64_t>(event), next);
	assumed(at.cpu) = {next.tid, at.time};
}

// A call of a thread that no token identifies is left out.
bool KernelFeed::pass_call(const trace::Event &event, const EventKind &kind, const EventContext &at, std::uint32_t call)
{
	if (at.task.tid <= 0)
		return false;
	if (analyze::is_of_one_call(kind))
		return target_.other(at, event); // it has a name and arguments, but no number
	if (kind.kind == EventMeaning::sys_enter) {
		target_.sys_enter(at, *analyze::call_of(kind, event));
		return true;
	}
	std::uint32_t ended = analyze::call_of(kind, event).value_or(call);
	if (ended == EDC_NO_SUCH_CALL) // the return from a signal handler has no number
		ended = call;
	// The end of a call whose start was left out would end another one.
	if (ended == EDC_NO_SYSCALL || (call != EDC_NO_SYSCALL && ended != call))
		return false;
	target_.sys_exit(at, ended, kind.field[0].get<std::int64_t>(event));
	return true;
}

bool KernelFeed::pass_thread(const trace::Event &event, const EventKind &kind, const EventContext &at)
{
	const ExtraFields &extra = extra_[event.cls->index];
	const auto tid = kind.field[0].get<std::int32_t>(event);
	const Task who = task(tid, at.cpu);
	const std::int32_t prio = extra.prio ? extra.prio.get<std::int32_t>(event) : -1;
	switch (kind.kind) {
	case EventMeaning::sched_waking:
		if (const analyze::Thread *woken = fold_.thread(tid); woken && woken->hidden)
			return false; // nothing would end its wait for a CPU
		target_.sched_waking(at, who, prio, extra.target_cpu.get<std::uint32_t>(event));
		return true;
	case EventMeaning::sched_wakeup_new:
		target_.created(at,
				{who, kind.field[1].get<std::int32_t>(event), kind.field[2].get<std::int32_t>(event),
				 prio, extra.target_cpu.get<std::uint32_t>(event)});
		return true;
	case EventMeaning::sched_process_exec:
		target_.executed(at, who, kind.field[1].get<std::int32_t>(event));
		return true;
	case EventMeaning::sched_process_exit:
		target_.exited(at, who, kind.field[1].get<std::int32_t>(event));
		return true;
	case EventMeaning::task_rename:
		target_.renamed(at, who, old_name_);
		return true;
	default:
		return false;
	}
}

bool KernelFeed::pass_on(const trace::Event &event, const EventKind &kind, const EventContext &at, std::uint32_t call)
{
	switch (kind.kind) {
	case EventMeaning::sys_enter:
	case EventMeaning::sys_exit:
		return pass_call(event, kind, at, call);
	case EventMeaning::interrupt_entry:
	case EventMeaning::interrupt_exit:
	case EventMeaning::timer_entry: {
		const auto number = kind.field[0].get<std::uint32_t>(event);
		const bool is_entry = kind.kind != EventMeaning::interrupt_exit;
		if (fold_.kinds().is_softirq(kind.interrupt))
			target_.softirq(at, is_entry, number);
		else
			target_.irq(at, is_entry, fold_.kinds().interrupt_name(kind.interrupt), number);
		return true;
	}
	case EventMeaning::other:
	case EventMeaning::sched_migrate_task:
	case EventMeaning::sched_process_fork:
	case EventMeaning::new_thread_woken:
	case EventMeaning::process_state:
	case EventMeaning::page_fault_user:
	case EventMeaning::page_fault_kernel:
	case EventMeaning::minor_fault:
	case EventMeaning::major_fault:
	case EventMeaning::cgroup_attach_task:
		return target_.other(at, event);
	default:
		return pass_thread(event, kind, at);
	}
}

void KernelFeed::finish(bool is_complete)
{
	for (const analyze::Cpu &cpu : fold_.cpus()) {
		update_running_until(cpu.number, is_complete ? fold_.window_end() : cpu.accounted,
				     running(cpu.current, cpu.number));
		if (!is_complete && assumed(cpu.number).tid != Task::unknown && cpu.accounted < fold_.window_end())
			target_.unknown(std::max(cpu.accounted, fold_.window_begin()), cpu.number);
	}
}

LeftOut KernelFeed::left_out() const
{
	LeftOut names;
	for (const auto &cls : description_.classes())
		if (left_out_by_class_[cls->index])
			names[cls->name] += left_out_by_class_[cls->index];
	return names;
}

} // namespace monitor::exporting
