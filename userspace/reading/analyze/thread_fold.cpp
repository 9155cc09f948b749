// SPDX-License-Identifier: MIT
#include "thread_fold.h"

#include <algorithm>

#include "base/grow.h"
#include "feed.h"
#include "monitor/syscall_arg.h"
#include "reading/events/threads.h"
#include "stack_tokens.h"
#include "thread_naming.h"

namespace monitor::analyze {
namespace {

bool is_of_running_thread(EventMeaning kind)
{
	return kind == EventMeaning::sys_enter || kind == EventMeaning::sys_exit ||
	       kind == EventMeaning::page_fault_user || kind == EventMeaning::minor_fault ||
	       kind == EventMeaning::major_fault;
}

constexpr std::uint32_t state_dead = 0x10; // X
constexpr std::uint32_t state_zombie = 0x20;

// Of a thread on no CPU, as the kernel reports it. A zombie is not blocked: nothing will wake it.
State state_of(std::uint32_t reported)
{
	if (reported == state_dead || reported == state_zombie)
		return State::dead;
	return reported == 0 || reported == EDC_STATE_PREEMPTED ? State::runnable : State::blocked;
}

// The call of a thread that sleeps, as the kernel reports it, in none.
std::uint32_t stop_of(std::uint32_t reported)
{
	constexpr std::uint32_t state_stopped = 0x4, state_traced = 0x8; // T, t
	return reported & state_stopped ? stopped_call : reported & state_traced ? traced_call : EDC_NO_SYSCALL;
}

void end_stop(Thread &thread)
{
	if (is_stop(thread.syscall))
		thread.syscall = EDC_NO_SYSCALL;
}

bool is_ready(const Thread &thread)
{
	return thread.state == State::runnable || thread.state == State::throttled;
}

// Whether the exit of call `left` can be that of `entered`: tokens between the two may not have been attributed to the
// thread. An exec may change the ABI, and the return from a signal handler restores no call's number.
bool may_end(std::uint32_t entered, std::uint32_t left, std::int64_t result)
{
	return left == entered || left == EDC_NO_SUCH_CALL || (result == 0 && is_compat(left) != is_compat(entered));
}

// The thread that takes a CPU offline.
bool is_stopper(const Thread &thread)
{
	return thread.tid != 0 && thread.name.starts_with("migration/");
}

} // namespace

ThreadFold::ThreadFold(const FoldInput &input, const RecordingInfo &info, Scope scope)
    : kinds_(input.description, input.partial, info.interrupt_names, info.disk_names,
	     !info.present || info.attached("local_timer_exit")), // the entry's program has one of two names
      settings_(std::make_shared<FoldSettings>(settings_of(input, info, kinds_, std::move(scope)))),
      threads_(settings_), times_(settings_, input.window), is_untimed_(settings_->has_untimed)
{
	for (const auto &[stream, end_time] : input.streams) {
		add_stream(stream);
		if (!settings_->is_complete && stream.has_cpu() && stream.level == 0)
			ends_.push_back({end_time, stream.cpu});
	}
	std::ranges::sort(ends_, std::greater<>(), &StreamEnd::time);
	if (!ends_.empty())
		next_end_ = ends_.back().time;
}

void ThreadFold::add_stream(const trace::StreamInfo &stream)
{
	grow_to(writers_, stream.index);
	if (stream.has_cpu())
		times_.cpu(stream.cpu);
}

std::unique_ptr<ThreadFold> ThreadFold::copy() const
{
	std::unique_ptr<ThreadFold> made(new ThreadFold(*this));
	made->observers_.clear();
	const ThreadTable::Copies copies = made->threads_.separate_from(threads_);
	made->times_.separate(copies);
	made->statistics_.separate(copies);
	return made;
}

std::size_t ThreadFold::copy_bytes() const
{
	return threads_.bytes() + cpus().size() * sizeof(Cpu);
}

void ThreadFold::contradict(Contradiction what, std::uint64_t time, const Cpu &cpu, const Thread &thread)
{
	for (Observer *observer : observers_)
		observer->contradiction(what, time, cpu.number, thread);
}

void ThreadFold::gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to)
{
	if (stream.is_recorder())
		return;
	if (stream.is_user()) {
		losses_.user_gap(to);
		is_counting_ = settings_->scope.includes_time(from);
		for (Observer *observer : observers_)
			observer->user_gap(stream, static_cast<std::uint32_t>(writers_[stream.index].process));
		return;
	}
	losses_.gap(to);
	lose(times_.cpu(stream.cpu), from, to);
}

void ThreadFold::gap_ended(const trace::StreamInfo &stream, std::uint64_t to)
{
	if (stream.is_user())
		losses_.user_gap_ended(to);
	else if (!stream.is_recorder())
		losses_.gap_ended(times_.cpu(stream.cpu), to, cpus());
}

void ThreadFold::lose(Cpu &lost, std::uint64_t from, std::uint64_t to)
{
	times_.account(lost, from);
	times_.leave_unfound(lost); // a thread found after the loss need not have run before it
	losses_.lose(lost, to, !settings_->has_coinciding_gaps);
	lost.current = nullptr;
	lost.fault_ticks = lost.unknown_ticks = 0; // the fault may have completed
	lost.interrupts.clear();
	lost.interrupts_known = false;
	throttles_.lose(lost.number, from);
	forget_others();
	for (Observer *observer : observers_)
		observer->lost(lost, from, to);
}

// A killed recording's streams end at different times: after its end the state of a CPU is as unknown as after a loss.
void ThreadFold::end_streams(std::uint64_t time)
{
	for (; !ends_.empty() && ends_.back().time < time; ends_.pop_back())
		lose(times_.cpu(ends_.back().cpu), ends_.back().time, open_end);
	next_end_ = ends_.empty() ? ~0ull : ends_.back().time;
}

void ThreadFold::end_at(std::uint64_t time)
{
	pass(time);
	for (Cpu &cpu : times_.cpus())
		times_.account(cpu, time);
}

void ThreadFold::event(const trace::Event &event)
{
	tokens_ += !event.is_control();
	if (is_untimed_ && event.time > 0) [[unlikely]] {
		is_untimed_ = false;
		times_.begin_at(event.time);
	}
	pass(event.time);
	const EventKind &kind = kinds_[*event.cls];
	if (event.stream->is_user())
		return on_user(kind, event);
	if (event.stream->is_recorder() || !times_.is_followed(event.time)) {
		if (!event.stream->is_recorder() && event.time < times_.first() && settings_->finds_runners &&
		    !settings_->is_snapshot)
			runs_before_start(kind, event);
		on_any_time(kind, event);
		return;
	}
	Cpu &cpu = times_.cpu(event.cpu());
	is_counting_ = cpu.selected && settings_->scope.includes_time(event.time);
	if (was_offline(kind, event, cpu)) [[unlikely]]
		go_offline(cpu, event.time);
	// Counters are read before the switch, which says whether the CPU was offline.
	if (kind.kind != EventMeaning::counters || !cpu.current || !is_stopper(*cpu.current))
		times_.account(cpu, event.time);
	if (cpu.is_offline) [[unlikely]]
		come_online(cpu, event.time);
	// The switch away from a hidden thread is hidden too.
	const bool hidden = cpu.current && cpu.current->hidden;
	if (hidden && is_of_running_thread(kind.kind))
		cpu.current = nullptr;
	// A packet names the running thread. Not during a loss, when a packet of another level may open, but the next
	// switches are lost; nor within a switch: stacks, triggers' events and an ended thread's counts are posted
	// there, with the switch's time.
	const bool in_switch = kind.kind == EventMeaning::thread_counts || (cpu.switched && event.time == cpu.switched);
	if (event.opens_packet() && !in_switch && (!cpu.current || hidden) && event.time >= cpu.gap_until) {
		Thread &thread = threads_.runner(cpu, static_cast<std::int32_t>(event.packet_tid()));
		if (!hidden || !settings_->finds_runners || thread.hidden)
			on_found(thread, cpu);
		else
			enter_unseen(thread, cpu, event.time);
	}
	switch (kind.kind) {
	case EventMeaning::sched_switch:
		return on_switch(kind, event, cpu);
	case EventMeaning::thread_runs:
		return on_thread_runs(kind, event, cpu);
	case EventMeaning::sys_enter:
		return on_sys_enter(kind, event, cpu);
	case EventMeaning::sys_exit:
		return on_sys_exit(kind, event, cpu);
	case EventMeaning::sched_waking: {
		Thread &woken = threads_.get(kind.field[0].get<std::int32_t>(event));
		note_queue(woken, kind.field[1], event);
		return on_waking(woken, cpu, event.time);
	}
	case EventMeaning::interrupt_entry:
	case EventMeaning::interrupt_exit:
		return on_interrupt(kind, event, cpu);
	case EventMeaning::timer_entry:
		return on_timer(kind, event, cpu);
	case EventMeaning::page_fault_user:
	case EventMeaning::page_fault_kernel:
	case EventMeaning::minor_fault:
	case EventMeaning::major_fault:
		return on_fault(kind, event, cpu);
	case EventMeaning::counters:
		for (Observer *observer : observers_)
			observer->counters(cpu, event);
		return;
	case EventMeaning::sample:
		return on_sample(kind, event, cpu);
	case EventMeaning::stack_sample:
		return on_stack(kind, event, cpu);
	case EventMeaning::function_entry:
	case EventMeaning::function_exit:
		return on_function(kind, event, cpu);
	case EventMeaning::sched_migrate_task: {
		Thread &moved = threads_.get(kind.field[0].get<std::int32_t>(event));
		moved.usage.migrations += is_counting_;
		return note_queue(moved, kind.field[1], event);
	}
	default:
		on_any_time(kind, event);
	}
}

void ThreadFold::on_function(const EventKind &kind, const trace::Event &event, const Cpu &cpu)
{
	functions_of_unknown_ += !cpu.current && is_counting_;
	if (!cpu.current || cpu.current->tid == 0 || !cpu.current->selected)
		return;
	is_counting_ &= threads_.is_selected(*cpu.current);
	for (Observer *observer : observers_)
		observer->function(*cpu.current, {kind.kind == EventMeaning::function_entry, event.time,
						  kind.field[0].get<std::uint32_t>(event), kind.field[1].get(event)});
}

// An event posted by a program: its stream identifies the thread; the CPU's time up to now is accounted.
void ThreadFold::on_user(const EventKind &kind, const trace::Event &event)
{
	Writer &writer = writers_[event.stream->index];
	if (event.opens_packet())
		writer = {static_cast<std::int32_t>(event.packet_tid()),
			  static_cast<std::int32_t>(event.packet_process())};
	if (kind.kind == EventMeaning::user_thread) {
		writer = {kind.field[0].get<std::int32_t>(event), kind.field[1].get<std::int32_t>(event)};
		return;
	}
	Thread &thread = threads_.get(writer.tid);
	if (thread.name.empty() && thread.tgid == thread.tid)
		thread.tgid = writer.process;
	if (!times_.is_followed(event.time))
		return;
	Cpu &cpu = times_.cpu(event.stream->has_cpu() ? event.cpu() : thread.cpu);
	times_.account(cpu, event.time);
	is_counting_ = cpu.selected && settings_->scope.includes_time(event.time) && threads_.is_selected(thread);
	if (thread.selected)
		for (Observer *observer : observers_)
			observer->user_event(thread, event);
}

// Tokens that apply also while not all probes were attached.
void ThreadFold::on_any_time(const EventKind &kind, const trace::Event &event)
{
	switch (kind.kind) {
	case EventMeaning::sched_wakeup_new:
	case EventMeaning::sched_process_fork:
		return on_born(kind, event);
	case EventMeaning::new_thread_woken:
		return on_new_thread_woken(kind, event);
	case EventMeaning::sched_process_exec:
		return on_exec(kind, event);
	case EventMeaning::sched_process_exit:
		return name_exited(kind, event, threads_);
	case EventMeaning::task_rename:
		return rename_thread(kind, event, threads_);
	case EventMeaning::process_state:
		return add_process_state(kind, event, threads_);
	case EventMeaning::thread_state:
		return on_thread_state(kind, event);
	case EventMeaning::thread_counts:
		return set_counts(kind, event, threads_);
	case EventMeaning::cgroup_attach_task:
		return move_attached(kind, event, threads_, times_);
	case EventMeaning::stack_frames:
		return deliver_stack_frames(kind, event, observers_);
	case EventMeaning::stack_end:
		return deliver_stack_end(kind, event, observers_);
	case EventMeaning::mapping:
		return deliver_mapping(kind, event, observers_);
	case EventMeaning::sync:
		for (Observer *observer : observers_)
			observer->clock_read(event.time, kind.field[0].get(event));
		return;
	case EventMeaning::cpu_offline:
		if (kind.field[0].get(event) < times_.cpus().size())
			go_offline(times_.cpus()[kind.field[0].get(event)], event.time);
		return;
	case EventMeaning::statistics_period:
	case EventMeaning::statistics_events:
	case EventMeaning::statistics_cpu:
	case EventMeaning::statistics_thread:
	case EventMeaning::statistics_usage:
	case EventMeaning::statistics_counts:
	case EventMeaning::statistics_throttled:
	case EventMeaning::statistics_calls:
	case EventMeaning::statistics_sleeps:
	case EventMeaning::statistics_buckets:
	case EventMeaning::statistics_activities:
	case EventMeaning::statistics_inclusive:
	case EventMeaning::statistics_open:
	case EventMeaning::statistics_transfers:
		return statistics_.event(kind, event, statistics_target());
	default:
		return;
	}
}

void ThreadFold::on_born(const EventKind &kind, const trace::Event &event)
{
	Thread &thread = add_created(kind, event, *settings_, threads_);
	if (!times_.is_followed(event.time))
		return; // when states are tracked again it may run, sleep or have ended
	threads_.set_created(thread, event.time);
	note_queue(thread, kind.field[4], event);
	forget_unseen(thread, event.time);
}

// Of other tracers: the thread exists since its fork, and is runnable from now on.
void ThreadFold::on_new_thread_woken(const EventKind &kind, const trace::Event &event)
{
	Thread &thread = threads_.get(kind.field[0].get<std::int32_t>(event));
	if (threads_.is_known(thread) && thread.state == State::runnable && !thread.has_run)
		thread.since = event.time;
	else if (event.has_cpu() && times_.is_followed(event.time))
		on_waking(thread, times_.cpu(event.cpu()), event.time);
}

// The first token since the start or a loss that identifies the running thread.
void ThreadFold::on_found(Thread &thread, Cpu &cpu)
{
	threads_.renew(thread);
	ThreadTable::forget_ring(thread); // until now its tokens could not be attributed to it
	times_.found(thread, cpu);
	cpu.user_ticks = {};
	cpu.fault_ticks = cpu.unknown_ticks = 0;
	thread.state = State::running;
	thread.cpu = cpu.number;
	cpu.current = &thread;
}

// A thread is on the CPU without a token of the switch away from the hidden thread before it. As all of the thread's
// tokens were attributed to it, its ring is still known.
void ThreadFold::enter_unseen(Thread &thread, Cpu &cpu, std::uint64_t time)
{
	cpu.fault_ticks = cpu.unknown_ticks = 0;
	cpu.user_ticks = {};
	cpu.current_listed = false;
	switch_in(thread, cpu, time);
}

// A call or a fault shows that another thread runs than the last switch said.
void ThreadFold::on_thread_runs(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	Thread &thread = threads_.get(kind.field[0].get<std::int32_t>(event));
	if (thread.name.empty() && thread.tgid == thread.tid)
		thread.tgid = kind.field[1].get<std::int32_t>(event);
	thread.introduced = true; // it is not hidden
	if (cpu.current == &thread)
		return;
	if (!cpu.current)
		return on_found(thread, cpu);
	if (!cpu.current_listed && ExecExchange::explains_runner(*cpu.current, thread))
		return exchange_numbers(*cpu.current, thread, event.time); // it is within an exec
	if (!cpu.current->hidden && !cpu.current_listed)
		contradict_runner(thread, event.time, cpu);
	enter_unseen(thread, cpu, event.time);
}

// The thread runs on a CPU that switched to another one: a contradiction, unless an exec may explain it.
void ThreadFold::contradict_runner(const Thread &runs, std::uint64_t time, const Cpu &cpu)
{
	const bool may_exec = settings_->finds_runners || settings_->has_exec_events;
	if (!may_exec || !execs_.may_explain(*cpu.current, runs, time, cpu))
		contradict(Contradiction::other_thread_ran, time, cpu, *cpu.current);
}

// A thread leaves the CPU that no token put there. It cannot have run before the hidden thread ahead of it did.
void ThreadFold::leave_unseen(Thread &thread, std::uint64_t time, const Cpu &cpu)
{
	contradict_runner(thread, time, cpu);
	const std::uint64_t from = std::max(thread.since, times_.first());
	if (cpu.current->hidden && threads_.is_known(thread) && is_ready(thread) && cpu.switched > from)
		waited(thread, from, cpu.switched);
}

// While probes are being attached a switch may be missing: the next call of another thread shows that it runs.
void ThreadFold::runs_before_start(const EventKind &kind, const trace::Event &event)
{
	if (kind.kind != EventMeaning::sched_switch && kind.kind != EventMeaning::thread_runs)
		return;
	Cpu &cpu = times_.cpu(event.cpu());
	Thread &thread =
	    threads_.runner(cpu, kind.field[kind.kind == EventMeaning::sched_switch ? 2 : 0].get<std::int32_t>(event));
	if (cpu.current)
		cpu.current->state = State::unknown;
	threads_.renew(thread);
	thread.state = State::running;
	thread.cpu = cpu.number;
	cpu.current = &thread;
	cpu.current_listed = true;
}

// Because of an exec (exec_exchange.h). Earlier times stay with the numbers, also if they turn out later to be of
// another mode.
void ThreadFold::exchange_numbers(Thread &one, Thread &other, std::uint64_t time)
{
	for (Cpu &cpu : times_.cpus()) {
		if (cpu.current != &one && cpu.current != &other)
			continue;
		times_.account(cpu, time);
		cpu.user_ticks = {};
		cpu.fault_ticks = cpu.unknown_ticks = 0;
		cpu.current = cpu.current == &one ? &other : &one;
	}
	for (Thread *thread : {&one, &other}) {
		settle(*thread, std::min(time, times_.last()));
		thread->since = time;
		notify_ended(*thread, time);
	}
	std::swap(static_cast<TaskState &>(one), static_cast<TaskState &>(other));
	for (Observer *observer : observers_)
		observer->exchanged(one, other);
}

// An exchange that no switch showed: the thread that has the number now is in the exec call.
void ThreadFold::take_over(Thread &thread, Thread &before, std::uint64_t time)
{
	settle(before, std::min(time, times_.last()));
	notify_ended(before, time);
	const TaskState ran = thread;
	std::swap(static_cast<TaskState &>(thread), static_cast<TaskState &>(before));
	thread.state = ran.state;
	thread.cpu = ran.cpu;
	thread.since = ran.since;
	thread.out_time = ran.out_time;
	before.state = State::dead;
}

// At the end of the trace: an exec may have begun just before, and have no token.
void ThreadFold::contradict_unconfirmed()
{
	for (const ExecExchange::UnconfirmedExchange &exec : execs_.unconfirmed())
		if (times_.last() - std::min(times_.last(), exec.time) > settings_->max_exec)
			contradict(Contradiction::other_thread_ran, exec.time, times_.cpu(exec.cpu),
				   threads_.get(exec.old_tid));
}

void ThreadFold::on_exec(const EventKind &kind, const trace::Event &event)
{
	const auto old_tid = kind.field[1].get<std::int32_t>(event);
	Thread &thread = threads_.get(kind.field[0].get<std::int32_t>(event));
	Thread *before = threads_.find(old_tid);
	const bool cpu_known = event.has_cpu() && event.cpu() < times_.cpus().size();
	const bool runs = cpu_known && times_.cpus()[event.cpu()].current == &thread;
	switch (execs_.executed(thread, before, old_tid, runs, before && threads_.is_known(*before))) {
	case ExecExchange::Shown::exchange:
		exchange_numbers(thread, *before, event.time);
		break;
	case ExecExchange::Shown::take_over:
		take_over(thread, *before, event.time);
		break;
	case ExecExchange::Shown::nothing:
		break;
	}
	thread.name = trace::command_of(kind.field[2].get<std::string_view>(event)); // others have the path
	thread.is_kernel = false;
	notify_ended(thread, event.time);
}

void ThreadFold::notify_ended(const Thread &thread, std::uint64_t time)
{
	if (!thread.selected || !times_.is_followed(time))
		return;
	const bool is_counting = std::exchange(is_counting_, is_counting_ && threads_.is_selected(thread));
	for (Observer *observer : observers_)
		observer->ended(thread, time);
	is_counting_ = is_counting; // also for the thread that is switched in then
}

// An offline CPU has no tokens (the kernel's tracepoints check cpu_online). The last thread before it is the stopper,
// the first after it the idle thread, without a switch in between.
bool ThreadFold::was_offline(const EventKind &kind, const trace::Event &event, const Cpu &cpu)
{
	return kind.kind == EventMeaning::sched_switch && kind.field[1].get<std::int32_t>(event) == 0 && cpu.current &&
	       !cpu.current->hidden && !cpu.current_listed && is_stopper(*cpu.current);
}

void ThreadFold::go_offline(Cpu &cpu, std::uint64_t time)
{
	if (cpu.is_offline)
		return;
	times_.leave_unfound(cpu);
	if (cpu.current) {
		for (Observer *observer : observers_)
			observer->went_offline(cpu, *cpu.current, cpu.accounted);
		cpu.current->state = State::unknown;
	}
	cpu.current = nullptr;
	cpu.interrupts.clear();
	cpu.user_ticks = {};
	cpu.fault_ticks = cpu.unknown_ticks = 0;
	cpu.current_listed = false;
	cpu.is_offline = cpu.was_offline = true;
	times_.account(cpu, time);
}

void ThreadFold::come_online(Cpu &cpu, std::uint64_t time)
{
	cpu.is_offline = false;
	cpu.interrupts_known = true;
	switch_in(threads_.idle(cpu), cpu, time);
}

void ThreadFold::on_switch(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	Thread &prev = threads_.runner(cpu, kind.field[1].get<std::int32_t>(event));
	Thread &next = threads_.runner(cpu, kind.field[2].get<std::int32_t>(event));
	const auto state = kind.field[0].get<std::uint32_t>(event);
	if (kind.field[3])
		name_switched(prev, next, kind, event, threads_);
	if (!cpu.current)
		on_found(prev, cpu);
	else if (cpu.current != &prev && !cpu.current_listed &&
		 execs_.explains_switch(*cpu.current, prev, event.time, cpu))
		exchange_numbers(*cpu.current, prev, event.time);
	else if (cpu.current != &prev && !cpu.current_listed)
		leave_unseen(prev, event.time, cpu);
	if (cpu.current != &prev)
		cpu.fault_ticks = 0; // not this thread's
	if (!cpu.interrupts.empty() && cpu.interrupts_known && settings_->is_complete)
		contradict(Contradiction::interrupts_unpaired, event.time, cpu, prev);
	cpu.interrupts.clear();
	cpu.interrupts_known = event.time >= cpu.gap_until; // rings of nested probes may still have a gap here
	cpu.current_listed = false;
	cpu.user_ticks = {};
	cpu.unknown_ticks = 0;
	cpu.switched = event.time;
	const bool is_throttled = kind.field[6] && kind.field[6].get<std::uint32_t>(event) & EDC_SWITCH_THROTTLED;
	if (is_throttled && settings_->throttles_groups && prev.tid != 0)
		if (const std::uint64_t cgroup = threads_.cgroup_of(prev))
			throttles_.begin(cpu.number, cgroup, event.time);
	switch_out(prev, state, is_throttled, event.time, cpu);
	switch_in(next, cpu, event.time);
}

// Compares the running thread of a sample with the switches.
void ThreadFold::on_sample(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const auto tid = kind.field[1].get<std::int32_t>(event);
	const Thread &thread = threads_.runner(cpu, tid);
	const Thread *known = cpu.current;
	if (known && known != &thread && known->tgid != thread.tgid && !known->hidden && !cpu.current_listed)
		contradict(Contradiction::other_thread_ran, event.time, cpu, *known);
	if (!is_counting_)
		return;
	const Sample sample = {event.time, kind.field[2].get<std::uint64_t>(event),
			       kind.field[0].get<std::uint32_t>(event)};
	for (Observer *observer : observers_)
		observer->sample(cpu, thread, sample);
}

void ThreadFold::on_stack(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const auto tid = kind.field[1].get<std::int32_t>(event);
	StackSample sample = stack_sample(kind, event);
	if (tid == 0 && sample.at != StackSample::At::sched_waking)
		return;
	const Thread &thread = threads_.runner(cpu, tid);
	sample.is_counted = is_counting_ && threads_.is_selected(thread) && cpu.selected;
	for (Observer *observer : observers_)
		observer->stack(thread, sample);
}

void ThreadFold::on_thread_state(const EventKind &kind, const trace::Event &event)
{
	Thread *listed = add_listed(kind, event, *settings_, threads_, times_);
	if (!listed)
		return;
	Thread &thread = *listed;
	const auto flags = kind.field[8].get<std::uint32_t>(event);
	if (flags & EDC_THREAD_LATER)
		thread.blocked_later =
		    settings_->is_snapshot && state_of(kind.field[0].get<std::uint32_t>(event)) == State::blocked;
	// In a snapshot the list may be much older.
	else if (!(flags & (EDC_THREAD_AT_END | EDC_THREAD_LATER)) && !threads_.is_known(thread) &&
		 (!settings_->is_snapshot || event.time >= times_.first()))
		on_state_at_start(kind, event, thread, flags);
}

void ThreadFold::on_state_at_start(const EventKind &kind, const trace::Event &event, Thread &thread,
				   std::uint32_t flags)
{
	threads_.renew(thread);
	const auto state = kind.field[0].get<std::uint32_t>(event);
	const auto call = kind.field[5].get<std::uint32_t>(event);
	thread.ring = thread.is_kernel ? Ring::kernel : Ring::unknown;
	thread.since = times_.first();
	if (flags & EDC_THREAD_RUNNING) {
		Cpu &cpu = times_.cpu(kind.field[4].get<std::uint32_t>(event));
		if (cpu.current || cpu.gap_until > event.time)
			return; // a switch has already said so, or a loss came after the list
		times_.account(cpu, event.time);
		thread.state = State::running;
		times_.found(thread, cpu);
		cpu.user_ticks = {};
		cpu.unknown_ticks = 0;
		cpu.current = &thread;
		cpu.current_listed = true;
		return;
	}
	thread.state = state_of(state);
	if (!thread.is_kernel && call != EDC_NO_SYSCALL && thread.state == State::blocked) {
		thread.ring = Ring::system_call;
		thread.syscall = call;
	} else if (thread.state == State::blocked) {
		thread.syscall = stop_of(state);
	}
	forget_unseen(thread, event.time);
}

void ThreadFold::switch_out(Thread &thread, std::uint32_t state, bool is_throttled, std::uint64_t time, Cpu &cpu)
{
	if (thread.tid == 0)
		return;
	// A thread may also be preempted on its way back to user mode; only one that sleeps or is preempted in the
	// kernel was still in the fault.
	if (thread.ring == Ring::fault && state == 0)
		times_.fault_never_completed(thread, cpu);
	cpu.fault_ticks = 0;
	thread.state = state_of(state);
	(thread.state == State::runnable ? thread.usage.involuntary : thread.usage.voluntary) += is_counting_;
	if (thread.state == State::runnable && is_throttled)
		thread.state = State::throttled;
	thread.out_time = thread.since = thread.queued = time;
	thread.queue = cpu.number;
	end_stop(thread);
	if (thread.state == State::blocked && thread.syscall == EDC_NO_SYSCALL)
		thread.syscall = stop_of(state);
	if (thread.state == State::blocked && thread.ring == Ring::user)
		thread.ring = Ring::unknown; // asleep in the kernel, on a path that no token brackets
	if (thread.state != State::dead)
		forget_unseen(thread, time);
	else
		notify_ended(thread, time);
}

void ThreadFold::switch_in(Thread &thread, Cpu &cpu, std::uint64_t time)
{
	if (thread.tid != 0 && thread.state == State::running && threads_.is_known(thread) &&
	    times_.cpus()[thread.cpu].current == &thread && thread.cpu != cpu.number)
		contradict(Contradiction::on_two_cpus, time, cpu, thread);
	// Every thread is in the list at the start or has a creation token, except hidden threads, and in a snapshot
	// those that ended before the list was made.
	if (threads_.lists_hidden() && !settings_->is_filtering && !settings_->is_snapshot && !threads_.has_lost() &&
	    thread.tid != 0 && !thread.introduced)
		thread.hidden = true;
	threads_.set_since_first(thread, State::runnable, times_.first());
	threads_.renew(thread);
	// Woken before it slept: the waking is older than the switch, so the thread did not sleep.
	const bool did_not_sleep = thread.state == State::blocked && thread.early_waking;
	if (is_ready(thread) || did_not_sleep) {
		const std::uint64_t from = std::max(thread.since, times_.first());
		waited(thread, from, time);
		if (is_counting_ && threads_.is_selected(thread) && thread.state != State::throttled)
			for (Observer *observer : observers_)
				observer->got_cpu(thread, from, time);
	} else if (thread.state == State::blocked && threads_.lists_hidden() && !thread.hidden &&
		   settings_->has_wakings) {
		end_blocked(thread, time, {}); // woken by a hidden thread, without a token
	}
	if (!throttles_.is_empty())
		throttles_.end(cpu.number, threads_.cgroup_of(thread), time);
	thread.early_waking = 0;
	end_stop(thread);
	if (!settings_->brackets_calls)
		thread.syscall = EDC_NO_SYSCALL; // it may have left the call of the list at the start
	thread.state = State::running;
	thread.has_run = true;
	thread.cpu = cpu.number;
	cpu.current = &thread;
}

Waker ThreadFold::waker_on(const Cpu &cpu) const
{
	// The running thread was the waker only if no interrupt can have been: unknown without interrupt tokens.
	const bool timers_known =
	    settings_->has_cpu_timers || kinds_.has_cpu_timers() || !cpu.interrupts.empty(); // in another interrupt
	const bool interrupts_known = settings_->has_interrupts && timers_known &&
				      !(settings_->is_filtering && cpu.current && cpu.current->filtered);
	Waker waker;
	if (interrupts_known && cpu.current && cpu.current->tid != 0)
		waker.thread = cpu.current;
	if (!cpu.interrupts.empty()) {
		waker.interrupt = static_cast<std::int32_t>(cpu.interrupts.back() >> 16);
		waker.number = cpu.interrupts.back() & 0xffff;
	}
	return waker;
}

void ThreadFold::on_waking(Thread &thread, const Cpu &cpu, std::uint64_t time)
{
	if (times_.is_followed(time))
		threads_.set_since_first(thread, State::blocked, times_.first());
	if (!threads_.is_known(thread))
		threads_.renew(thread);
	if (thread.state == State::running) {
		thread.early_waking = time;
		return;
	}
	if (thread.state == State::blocked)
		end_blocked(thread, time, waker_on(cpu));
	else if (is_ready(thread))
		return;
	end_stop(thread);
	thread.state = State::runnable;
	thread.since = time;
	forget_unseen(thread, time);
}

void ThreadFold::on_interrupt(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const std::uint32_t entry =
	    static_cast<std::uint32_t>(kind.interrupt) << 16 | kind.field[0].get<std::uint16_t>(event);
	if (kind.kind != EventMeaning::interrupt_exit) {
		if (kind.kind == EventMeaning::interrupt_entry && kind.field[1])
			kinds_.learn_interrupt(entry & 0xffff, kind.field[1].get<std::string_view>(event));
		if (cpu.interrupts.size() < 16)
			cpu.interrupts.push_back(entry);
		return;
	}
	if (!cpu.interrupts.empty() && cpu.interrupts.back() == entry)
		cpu.interrupts.pop_back();
	else if (cpu.interrupts_known &&
		 settings_->is_complete) // a killed recording lacks the last block of each nesting level
		contradict(Contradiction::interrupts_unpaired, event.time, cpu,
			   cpu.current ? *cpu.current : threads_.idle(cpu));
}

// The timer interrupt says which mode it interrupted. There may be no other token of that: the thread only computes, or
// is in a long call that began before the recording, or handles a fault (SIGSEGV) or has jumped out of the handler, so
// that the fault never completes.
void ThreadFold::on_timer(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const bool user = kind.field[1].get<std::uint32_t>(event) != 0;
	Thread *const thread = cpu.interrupts.empty() ? cpu.current : nullptr;
	const bool is_uncertain = thread && (thread->ring == Ring::unknown || thread->ring == Ring::within ||
					     (thread->ring == Ring::system_call && !thread->syscall_known));
	const bool handles_fault = thread && user && thread->ring == Ring::fault;
	if (handles_fault)
		times_.fault_never_completed(*thread, cpu);
	if ((is_uncertain && user) || handles_fault)
		thread->ring = Ring::user;
	else if (is_uncertain && thread->ring == Ring::unknown && thread->tid != 0 && settings_->brackets_all &&
		 cpu.interrupts_known && !thread->filtered && !thread->hidden) {
		times_.was_in_kernel(*thread, cpu);
		thread->ring = Ring::within;
	}
	on_interrupt(kind, event, cpu);
}

void ThreadFold::on_sys_enter(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const std::uint32_t call = call_of(kind, event).value_or(EDC_NO_SUCH_CALL);
	if (!cpu.current && is_counting_)
		++calls_of_unknown_[call];
	if (!cpu.current || cpu.current->tid == 0)
		return;
	Thread &thread = *cpu.current;
	if (thread.ring == Ring::system_call && thread.syscall_known)
		contradict(Contradiction::entry_without_exit, event.time, cpu, thread);
	if (thread.ring == Ring::fault)
		times_.fault_never_completed(thread, cpu);
	times_.unattribute_edge(thread, cpu, settings_->call_edge);
	thread.ring = Ring::system_call;
	thread.syscall = call;
	thread.syscall_known = true;
	thread.syscall_since = event.time;
	thread.early_waking = 0; // that was of an earlier call
	thread.usage.syscalls += is_counting_;
}

void ThreadFold::on_sys_exit(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	if (!cpu.current || cpu.current->tid == 0)
		return;
	Thread &thread = *cpu.current;
	const auto result = kind.field[0].get<std::int64_t>(event);
	const std::optional<std::uint32_t> exit_call = call_of(kind, event);
	const std::uint32_t call = exit_call.value_or(thread.syscall);
	const bool is_delivered = is_counting_ && threads_.is_selected(thread);
	if (thread.ring == Ring::system_call && thread.syscall_known) {
		if (may_end(thread.syscall, call, result) && is_delivered)
			for (Observer *observer : observers_)
				observer->system_call(thread, thread.syscall, thread.syscall_since, event.time, result);
	} else if (exit_call && result == static_cast<std::int16_t>(result) &&
		   (thread.ring == Ring::user || thread.ring == Ring::fault)) {
		// The probe adds the number to a result that fits the token without it only if it saw no entry.
		thread.usage.syscalls += is_counting_;
		if (is_delivered)
			for (Observer *observer : observers_)
				observer->refused_call(thread, call, event.time, result);
	} else if (thread.ring == Ring::user && result >= 0) {
		// An error may mean that the call was refused, in recordings whose exits then have no number.
		contradict(Contradiction::exit_without_entry, event.time, cpu, thread);
	}
	if (thread.ring == Ring::fault)
		times_.fault_never_completed(thread, cpu);
	thread.ring = Ring::user;
	thread.syscall = EDC_NO_SYSCALL;
	thread.syscall_known = false;
}

void ThreadFold::on_fault(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	if (!cpu.current || cpu.current->tid == 0)
		return;
	Thread &thread = *cpu.current;
	switch (kind.kind) {
	case EventMeaning::minor_fault:
	case EventMeaning::major_fault:
		(kind.kind == EventMeaning::minor_fault ? thread.usage.minor_faults : thread.usage.major_faults) +=
		    is_counting_;
		if (thread.ring == Ring::fault || ((thread.ring == Ring::within || thread.ring == Ring::unknown) &&
						   kind.field[0].get<std::uint32_t>(event) != 0))
			thread.ring = Ring::user;
		cpu.fault_ticks = 0;
		return;
	case EventMeaning::page_fault_user:
		if (thread.ring == Ring::fault)
			times_.fault_never_completed(thread, cpu);
		times_.unattribute_edge(thread, cpu, settings_->fault_edge);
		thread.ring = Ring::fault;
		cpu.fault_ticks = 0;
		return;
	default:
		return; // from kernel mode, perhaps within an unbracketed part
	}
}

void ThreadFold::waited(Thread &thread, std::uint64_t from, std::uint64_t to)
{
	if (throttles_.is_empty())
		return times_.waited(thread, from, to, thread.state == State::throttled);
	throttles_.divide(thread, threads_.cgroup_of(thread), from, to,
			  [&](std::uint64_t since, std::uint64_t until, bool is_throttled) {
				  times_.waited(thread, since, until, is_throttled);
			  });
}

// The thread is in this CPU's run queue from now on, or will be.
void ThreadFold::note_queue(Thread &thread, const trace::FieldRef &cpu, const trace::Event &event) const
{
	if (!settings_->throttles_groups || !cpu || thread.state == State::running)
		return;
	thread.queue = cpu.get<std::uint32_t>(event);
	thread.queued = event.time;
}

void ThreadFold::end_blocked(Thread &thread, std::uint64_t time, const Waker &waker)
{
	const std::uint64_t from = std::max(thread.since, times_.first());
	if (time <= from)
		return; // it slept for no time, or while not all probes were attached
	times_.slept(thread, from, time, waker);
	if (threads_.is_selected(thread) && !thread.filtered && settings_->scope.includes_time(time))
		for (Observer *observer : observers_)
			observer->blocked(thread, from, time, waker);
}

// Accounts the wait or the sleep of a thread on no CPU up to now.
void ThreadFold::settle(Thread &thread, std::uint64_t time)
{
	if (!threads_.is_known(thread))
		return;
	if (is_ready(thread))
		waited(thread, std::max(thread.since, times_.first()), time);
	else if (thread.state == State::blocked)
		end_blocked(thread, time, {});
}

void ThreadFold::finish()
{
	is_counting_ = settings_->scope.includes_time(times_.last());
	contradict_unconfirmed();
	statistics_.finish(statistics_target());
	times_.finish();
	for (Thread &thread : threads_.all()) {
		if (thread.blocked_later)
			threads_.set_since_first(thread, State::blocked, times_.first());
		settle(thread, times_.last());
	}
}

void ThreadFold::begin_window()
{
	times_.begin_window(threads_);
	calls_of_unknown_.clear();
	functions_of_unknown_ = 0;
}

void ThreadFold::forget(const std::function<bool(const Thread &)> &is_gone)
{
	const std::vector<std::uint32_t> ended = threads_.ended(cpus(), is_gone);
	for (const std::uint32_t index : ended)
		for (Observer *observer : observers_)
			observer->forgotten(threads()[index]);
	threads_.remove(ended);
}

trace::Losses feed(trace::Trace &trace, ThreadFold &fold)
{
	return feed(trace, fold, [](const trace::Event &) {});
}

} // namespace monitor::analyze
