// SPDX-License-Identifier: MIT
// The transitions of Machine: what each token of a CPU changes. See machine.h for the rules.
#include <algorithm>

#include "machine.h"
#include "monitor/stack.h"
#include "monitor/syscall_arg.h"
#include "reading/events/threads.h"

namespace monitor::analyze {
namespace {

constexpr std::uint32_t state_dead = 0x10; // X
constexpr std::uint32_t state_zombie = 0x20;

// Of a thread that is on no CPU, as the kernel reports it. A zombie is not blocked: nothing will wake it.
State state_of(std::uint32_t reported)
{
	if (reported == state_dead || reported == state_zombie)
		return State::dead;
	return reported == 0 || reported == EDC_STATE_PREEMPTED ? State::runnable : State::blocked;
}

// By the name of the class; without one it is the timer.
StackSample::At stack_at(const std::string *name)
{
	if (!name || *name == "timer")
		return StackSample::At::timer;
	if (*name == "sched_switch")
		return StackSample::At::sched_switch;
	if (*name == "sched_waking")
		return StackSample::At::sched_waking;
	return name->starts_with("page_fault_") ? StackSample::At::fault : StackSample::At::other;
}

// Else it is the exit of another call: between the two, tokens were not attributed to the thread. An exec may change
// the ABI, and the return from a signal handler restores the number of no call.
bool may_end(std::uint32_t entered, std::uint32_t left, std::int64_t result)
{
	return left == entered || left == EDC_NO_SUCH_CALL || (result == 0 && is_compat(left) != is_compat(entered));
}

// See exchange_numbers(): one of the two is the first of their process.
bool may_have_exchanged(const Thread &ran, const Thread &left)
{
	return ran.tgid == left.tgid && (ran.tid == ran.tgid || left.tid == left.tgid) && !ran.hidden;
}

// -p left out the tokens that say which process it belongs to.
bool is_untold(const Thread &thread)
{
	return thread.filtered && !thread.introduced && thread.tid != 0;
}

} // namespace

// The first token since the start or a loss that says which thread has been running here.
void Machine::on_found(Thread &thread, Cpu &cpu)
{
	renew(thread);
	forget_ring(thread); // its tokens until now could not be attributed to it
	if (thread.tid != 0)
		ran(thread, cpu, Mode::unknown, cpu.before_first);
	(thread.tid == 0 ? cpu.idle : cpu.usage[Mode::unknown]) += cpu.before_first.within;
	cpu.before_first = {};
	tell_found(cpu, thread);
	cpu.user_ticks = {};
	cpu.fault_ticks = cpu.unknown_ticks = 0;
	thread.state = State::running;
	thread.cpu = cpu.number;
	cpu.current = &thread;
}

// A thread has the CPU, and the switch away from the hidden one that had it has no token. All tokens of the thread were
// attributed to it: it is where they left it.
void Machine::came_unseen(Thread &thread, Cpu &cpu, std::uint64_t time)
{
	cpu.fault_ticks = cpu.unknown_ticks = 0;
	cpu.user_ticks = {};
	cpu.current_listed = false;
	switch_in(thread, cpu, time);
}

// A call or a fault found that another thread runs than the last switch said.
void Machine::on_runs(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	Thread &thread = get(kind.field[0].get<std::int32_t>(event));
	if (thread.name.empty() && thread.tgid == thread.tid)
		thread.tgid = kind.field[1].get<std::int32_t>(event);
	thread.introduced = true; // the kernel does not hide it
	if (cpu.current == &thread)
		return;
	if (!cpu.current)
		return on_found(thread, cpu);
	if (!cpu.current_listed && may_have_exchanged(*cpu.current, thread))
		return exchange_numbers(*cpu.current, thread, event.time); // it is within an exec
	if (!cpu.current->hidden && !cpu.current_listed)
		contradict(Contradiction::other_thread_ran, event.time, cpu, *cpu.current);
	came_unseen(thread, cpu, event.time);
}

// While probes are being attached a switch may be missing: the next call of another thread says that it runs.
void Machine::runs_before_start(const EventKind &kind, const trace::Event &event)
{
	if (kind.kind != Kind::sched_switch && kind.kind != Kind::thread_runs)
		return;
	Cpu &cpu = this->cpu(event.cpu());
	Thread &thread = runner(cpu, kind.field[kind.kind == Kind::sched_switch ? 2 : 0].get<std::int32_t>(event));
	if (cpu.current)
		cpu.current->state = State::unknown;
	renew(thread);
	thread.state = State::running;
	thread.cpu = cpu.number;
	cpu.current = &thread;
	cpu.current_listed = true;
}

// A thread that is not the first of its process exchanges its number with the first one when it calls exec (de_thread
// in the kernel's fs/exec.c). The exchange has no token: the first to show it is a switch away from one of the two
// under the other's number (on_switch), or the token of the exec. What each did until then is that of the number that
// it had, also where it turns out later to be of another mode.
void Machine::exchange_numbers(Thread &one, Thread &other, std::uint64_t time)
{
	for (Cpu &cpu : cpus_) {
		if (cpu.current != &one && cpu.current != &other)
			continue;
		account(cpu, time);
		cpu.user_ticks = {};
		cpu.fault_ticks = cpu.unknown_ticks = 0;
		cpu.current = cpu.current == &one ? &other : &one;
	}
	for (Thread *thread : {&one, &other}) {
		settle(*thread, std::min(time, last_));
		thread->since = time;
		tell_ended(*thread, time);
	}
	std::swap(static_cast<Doing &>(one), static_cast<Doing &>(other));
	for (Observer *observer : observers_)
		observer->exchanged(one, other);
}

void Machine::suppose_exec(Thread &ran, Thread &left, std::uint64_t time, const Cpu &cpu)
{
	supposed_execs_.push_back({left.tid, ran.tid, time, cpu.number});
	exchange_numbers(ran, left, time);
}

// At the end: an exec that had begun just before it may have no token.
void Machine::contradict_supposed()
{
	for (const SupposedExec &exec : supposed_execs_)
		if (last_ - std::min(last_, exec.time) > longest_exec_)
			contradict(Contradiction::other_thread_ran, exec.time, cpu(exec.cpu), get(exec.old_tid));
	supposed_execs_.clear();
}

void Machine::on_exec(const EventKind &kind, const trace::Event &event)
{
	const auto old_tid = kind.field[1].get<std::int32_t>(event);
	Thread &thread = get(kind.field[0].get<std::int32_t>(event));
	Thread *before = find(old_tid);
	std::erase_if(supposed_execs_,
		      [&](const SupposedExec &exec) { return exec.tid == thread.tid && exec.old_tid == old_tid; });
	const bool cpu_known = event.has_cpu() && event.cpu() < cpus_.size();
	const bool exchanged = (cpu_known && cpus_[event.cpu()].current == &thread) ||
			       (before && is_known(*before) && before->state == State::dead);
	if (before && before != &thread && !exchanged)
		exchange_numbers(thread, *before, event.time);
	thread.name = trace::command_of(kind.field[2].get<std::string_view>(event)); // others tell the file
	thread.is_kernel = false;
	tell_ended(thread, event.time);
}

void Machine::tell_ended(const Thread &thread, std::uint64_t time)
{
	if (!thread.selected || !is_followed(time))
		return;
	const bool is_counting = std::exchange(is_counting_, is_counting_ && is_selected(thread));
	for (Observer *observer : observers_)
		observer->ended(thread, time);
	is_counting_ = is_counting; // also of the thread that is switched in then
}

// Other tracers' switches say what both threads are called, and some which process the first one is of.
void Machine::named_by_switch(Thread &prev, Thread &next, const EventKind &kind, const trace::Event &event)
{
	if (next.tid != 0)
		next.name = kind.field[3].get<std::string_view>(event);
	if (prev.tid == 0)
		return;
	if (kind.field[4])
		prev.name = kind.field[4].get<std::string_view>(event);
	if (const auto process = kind.field[5].get<std::int32_t>(event); process > 0)
		prev.tgid = process;
	lead(prev);
}

// A CPU that is offline has no tokens (the kernel's tracepoints ask whether it is online). The last thread there is the
// one that stops it, and the first one later the idle thread, with no switch in between.
bool Machine::was_offline(const EventKind &kind, const trace::Event &event, const Cpu &cpu)
{
	return kind.kind == Kind::sched_switch && kind.field[1].get<std::int32_t>(event) == 0 && cpu.current &&
	       cpu.current->tid != 0 && !cpu.current->hidden && !cpu.current_listed &&
	       cpu.current->name.starts_with("migration/");
}

void Machine::go_offline(Cpu &cpu, std::uint64_t time)
{
	if (cpu.is_offline)
		return;
	leave_unfound(cpu);
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
	cpu.is_offline = true;
	account(cpu, time);
}

void Machine::come_online(Cpu &cpu, std::uint64_t time)
{
	cpu.is_offline = false;
	cpu.interrupts_known = true;
	switch_in(idle(cpu), cpu, time);
}

void Machine::on_switch(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	Thread &prev = runner(cpu, kind.field[1].get<std::int32_t>(event));
	Thread &next = runner(cpu, kind.field[2].get<std::int32_t>(event));
	const auto state = kind.field[0].get<std::uint32_t>(event);
	if (kind.field[3])
		named_by_switch(prev, next, kind, event);
	if (!cpu.current)
		on_found(prev, cpu);
	else if (cpu.current != &prev && !cpu.current_listed && may_have_exchanged(*cpu.current, prev))
		exchange_numbers(*cpu.current, prev, event.time);
	else if (cpu.current != &prev && !cpu.current_listed && is_untold(*cpu.current) && is_untold(prev))
		suppose_exec(*cpu.current, prev, event.time, cpu);
	else if (cpu.current != &prev && !cpu.current_listed)
		contradict(Contradiction::other_thread_ran, event.time, cpu, *cpu.current);
	if (cpu.current != &prev)
		cpu.fault_ticks = 0; // they are not of this thread
	if (!cpu.interrupts.empty() && cpu.interrupts_known && complete_)
		contradict(Contradiction::interrupts_unpaired, event.time, cpu, prev);
	cpu.interrupts.clear();
	cpu.interrupts_known = event.time >= cpu.gap_until; // the ring of nested probes may still have a gap here
	cpu.current_listed = false;
	cpu.user_ticks = {};
	cpu.unknown_ticks = 0;
	cpu.switched = event.time;
	switch_out(prev, state, event.time, cpu);
	switch_in(next, cpu, event.time);
}

// Compares the thread that the card saw running with what the switches say.
void Machine::on_sample(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const auto tid = kind.field[1].get<std::int32_t>(event);
	const Thread &thread = tid == 0 ? idle(cpu) : get(tid);
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

void Machine::on_stack(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const auto tid = kind.field[1].get<std::int32_t>(event);
	const StackSample::At at = stack_at(kind.field[0].label(event));
	if (tid == 0 && at != StackSample::At::sched_waking)
		return;
	const Thread &thread = tid == 0 ? idle(cpu) : get(tid);
	const StackSample sample = {at,
				    event.time,
				    kind.field[2].get(event),
				    kind.field[3].get(event),
				    kind.field[4].get(event),
				    is_counting_ && is_selected(thread) && cpu.selected,
				    at == StackSample::At::other ? kind.field[0].label(event) : nullptr};
	for (Observer *observer : observers_)
		observer->stack(thread, sample);
}

void Machine::on_stack_frames(const EventKind &kind, const trace::Event &event)
{
	std::array<std::uint64_t, 6> frames;
	for (std::size_t i = 0; i < frames.size(); ++i)
		frames[i] = kind.field[3 + i].get(event);
	const auto count = std::min<std::size_t>(kind.field[1].get(event), frames.size());
	for (Observer *observer : observers_)
		observer->stack_frames(kind.field[2].get(event), kind.field[0].get<std::uint32_t>(event),
				       std::span(frames).first(count));
}

void Machine::on_stack_end(const EventKind &kind, const trace::Event &event)
{
	const bool is_complete = kind.field[1].get(event) == EDC_STACK_COMPLETE;
	const std::string *label = kind.field[1].label(event);
	const std::string why = is_complete ? "" : label ? *label : "?";
	const std::uint32_t cpu = event.stream->has_cpu() ? event.cpu() : 0;
	for (Observer *observer : observers_)
		observer->stack_end(cpu, kind.field[2].get(event), kind.field[0].get<std::uint32_t>(event), why);
}

void Machine::on_mapping(const EventKind &kind, const trace::Event &event)
{
	const MappingToken token = {kind.field[0].get<std::uint32_t>(event),
				    kind.field[1].get<std::int32_t>(event),
				    kind.field[7].get<std::int32_t>(event),
				    kind.field[2].get<std::uint32_t>(event),
				    kind.field[3].get(event),
				    kind.field[4].get(event),
				    kind.field[5].get(event),
				    kind.field[6].get(event)};
	for (Observer *observer : observers_)
		observer->mapping(token);
}

void Machine::on_thread_state(const EventKind &kind, const trace::Event &event)
{
	const auto tid = kind.field[1].get<std::int32_t>(event);
	const auto flags = kind.field[8].get<std::uint32_t>(event);
	if (tid == 0)
		return;
	Thread *found = find(tid);
	Thread &thread = found ? *found : fresh(tid);
	const bool nameless = thread.name.empty();
	if (nameless || !(flags & EDC_THREAD_AT_END)) {
		thread.tgid = kind.field[2].get<std::int32_t>(event);
		thread.parent = kind.field[3].get<std::int32_t>(event);
		thread.name = kind.field[6].get<std::string_view>(event);
		thread.is_kernel = flags & EDC_THREAD_KERNEL;
		if (!(flags & EDC_THREAD_FILTERED))
			thread.filtered = false;
	}
	lead(thread);
	list_cgroup(thread, kind.field[7].get(event), flags, event.time);
	thread.hidden |= (flags & EDC_THREAD_HIDDEN) && thread.born == 0;
	thread.introduced = true;
	hides_threads_ |= thread.hidden;
	const Thread *parent = find(thread.parent);
	if ((command_pid_ && (tid == command_pid_ || thread.tgid == command_pid_)) || (parent && parent->in_tree))
		thread.in_tree = true;
	if (flags & EDC_THREAD_LATER)
		thread.blocked_later =
		    is_snapshot_ && state_of(kind.field[0].get<std::uint32_t>(event)) == State::blocked;
	// In a snapshot there may be a list that was made long before it.
	else if (!(flags & (EDC_THREAD_AT_END | EDC_THREAD_LATER)) && !is_known(thread) &&
		 (!is_snapshot_ || event.time >= first_))
		on_state_at_start(kind, event, thread, flags);
}

void Machine::on_state_at_start(const EventKind &kind, const trace::Event &event, Thread &thread, std::uint32_t flags)
{
	renew(thread);
	const auto state = kind.field[0].get<std::uint32_t>(event);
	const auto call = kind.field[5].get<std::uint32_t>(event);
	thread.ring = thread.is_kernel ? Ring::kernel : Ring::unknown;
	thread.since = first_;
	if (flags & EDC_THREAD_RUNNING) {
		Cpu &cpu = this->cpu(kind.field[4].get<std::uint32_t>(event));
		if (cpu.current || cpu.gap_until > event.time)
			return; // a switch has already said so, or the loss that this is in has outdated it
		account(cpu, event.time);
		thread.state = State::running;
		ran(thread, cpu, Mode::unknown, cpu.before_first);
		cpu.usage[Mode::unknown] += cpu.before_first.within;
		cpu.before_first = {};
		tell_found(cpu, thread);
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
	}
	forget_unseen(thread, event.time);
}

void Machine::switch_out(Thread &thread, std::uint32_t state, std::uint64_t time, Cpu &cpu)
{
	if (thread.tid == 0)
		return;
	// It may also be preempted on its way back to user mode; only a thread that sleeps or is preempted in the
	// kernel was still in the fault.
	if (thread.ring == Ring::fault && state == 0)
		fault_never_completed(thread, cpu);
	cpu.fault_ticks = 0;
	thread.state = state_of(state);
	(thread.state == State::runnable ? thread.usage.involuntary : thread.usage.voluntary) += is_counting_;
	thread.out_time = time;
	thread.since = time;
	if (thread.state == State::blocked && thread.ring == Ring::user)
		thread.ring = Ring::unknown; // asleep in the kernel, on a path that no token brackets
	if (thread.state != State::dead)
		forget_unseen(thread, time);
	else
		tell_ended(thread, time);
}

void Machine::switch_in(Thread &thread, Cpu &cpu, std::uint64_t time)
{
	if (thread.tid != 0 && thread.state == State::running && is_known(thread) &&
	    cpus_[thread.cpu].current == &thread && thread.cpu != cpu.number)
		contradict(Contradiction::on_two_cpus, time, cpu, thread);
	// Every thread is in the list at the start or has a creation token, except hidden threads.
	// But in a flight recorder's snapshot not one that ended before the list was made.
	if (hides_threads_ && !filtering_ && !is_snapshot_ && epoch_ == 1 && thread.tid != 0 && !thread.introduced)
		thread.hidden = true;
	was_since_begin(thread, State::runnable);
	renew(thread);
	// Woken while going to sleep: the waking's token is older than the switch's, and the thread did not sleep.
	const bool did_not_sleep = thread.state == State::blocked && thread.early_waking;
	if (thread.state == State::runnable || did_not_sleep) {
		const std::uint64_t from = std::max(thread.since, first_);
		waited(thread, from, time);
		if (is_counting_ && is_selected(thread))
			for (Observer *observer : observers_)
				observer->got_cpu(thread, from, time);
	} else if (thread.state == State::blocked && hides_threads_ && !thread.hidden && wakings_recorded_) {
		end_blocked(thread, time, {}); // a hidden thread woke it, which has no token
	}
	thread.early_waking = 0;
	thread.state = State::running;
	thread.has_run = true;
	thread.cpu = cpu.number;
	cpu.current = &thread;
}

Waker Machine::waker_on(const Cpu &cpu) const
{
	// The running thread woke it only if no interrupt can have: unknown where interrupt tokens are missing.
	const bool interrupts_known = interrupts_recorded_ && !(filtering_ && cpu.current && cpu.current->filtered);
	Waker waker;
	if (interrupts_known && cpu.current && cpu.current->tid != 0)
		waker.thread = cpu.current;
	if (!cpu.interrupts.empty()) {
		waker.interrupt = static_cast<std::int32_t>(cpu.interrupts.back() >> 16);
		waker.number = cpu.interrupts.back() & 0xffff;
	}
	return waker;
}

void Machine::on_waking(Thread &thread, const Cpu &cpu, std::uint64_t time)
{
	if (is_followed(time))
		was_since_begin(thread, State::blocked);
	if (!is_known(thread))
		renew(thread);
	if (thread.state == State::running) {
		thread.early_waking = time;
		return;
	}
	if (thread.state == State::blocked)
		end_blocked(thread, time, waker_on(cpu));
	else if (thread.state == State::runnable)
		return;
	thread.state = State::runnable;
	thread.since = time;
	forget_unseen(thread, time);
}

void Machine::on_interrupt(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const std::uint32_t entry =
	    static_cast<std::uint32_t>(kind.interrupt) << 16 | kind.field[0].get<std::uint16_t>(event);
	if (kind.kind != Kind::interrupt_exit) {
		if (cpu.interrupts.size() < 16)
			cpu.interrupts.push_back(entry);
		return;
	}
	if (!cpu.interrupts.empty() && cpu.interrupts.back() == entry)
		cpu.interrupts.pop_back();
	else if (cpu.interrupts_known && complete_) // a killed recording lacks the last block of each nesting level
		contradict(Contradiction::interrupts_unpaired, event.time, cpu, cpu.current ? *cpu.current : idle(cpu));
}

// The timer interrupt says which mode it interrupted: a thread that only computes, or is long in a call that it entered
// before the recording, has no other token. Nor has one that handles its fault (SIGSEGV), or jumps out of the handler:
// the fault has no completion.
void Machine::on_timer(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	const bool user = kind.field[1].get<std::uint32_t>(event) != 0;
	Thread *const thread = cpu.interrupts.empty() ? cpu.current : nullptr;
	const bool guessed = thread && (thread->ring == Ring::unknown || thread->ring == Ring::within ||
					(thread->ring == Ring::system_call && !thread->syscall_known));
	const bool handles_fault = thread && user && thread->ring == Ring::fault;
	if (handles_fault)
		fault_never_completed(*thread, cpu);
	if ((guessed && user) || handles_fault)
		thread->ring = Ring::user;
	else if (guessed && thread->ring == Ring::unknown && thread->tid != 0 && all_bracketed_ &&
		 cpu.interrupts_known && !thread->filtered && !thread->hidden) {
		was_in_kernel(*thread, cpu);
		thread->ring = Ring::within;
	}
	on_interrupt(kind, event, cpu);
}

void Machine::on_sys_enter(const EventKind &kind, const trace::Event &event, Cpu &cpu)
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
		fault_never_completed(thread, cpu);
	take_edge(thread, cpu, call_edge_);
	thread.ring = Ring::system_call;
	thread.syscall = call;
	thread.syscall_known = true;
	thread.syscall_since = event.time;
	thread.usage.syscalls += is_counting_;
}

void Machine::on_sys_exit(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	if (!cpu.current || cpu.current->tid == 0)
		return;
	Thread &thread = *cpu.current;
	const auto result = kind.field[0].get<std::int64_t>(event);
	const std::optional<std::uint32_t> said = call_of(kind, event);
	const std::uint32_t call = said.value_or(thread.syscall);
	const bool is_told = is_counting_ && is_selected(thread);
	if (thread.ring == Ring::system_call && thread.syscall_known) {
		if (may_end(thread.syscall, call, result) && is_told)
			for (Observer *observer : observers_)
				observer->system_call(thread, thread.syscall, thread.syscall_since, event.time, result);
	} else if (said && result == static_cast<std::int16_t>(result) &&
		   (thread.ring == Ring::user || thread.ring == Ring::fault)) {
		// The probe gives the number beside a result that fits without it only where it saw no entry.
		thread.usage.syscalls += is_counting_;
		if (is_told)
			for (Observer *observer : observers_)
				observer->refused_call(thread, call, event.time, result);
	} else if (thread.ring == Ring::user && result >= 0) {
		// With an error it may have been refused, in recordings whose exits then have no number.
		contradict(Contradiction::exit_without_entry, event.time, cpu, thread);
	}
	if (thread.ring == Ring::fault)
		fault_never_completed(thread, cpu);
	thread.ring = Ring::user;
	thread.syscall = EDC_NO_SYSCALL;
	thread.syscall_known = false;
}

void Machine::on_fault(const EventKind &kind, const trace::Event &event, Cpu &cpu)
{
	if (!cpu.current || cpu.current->tid == 0)
		return;
	Thread &thread = *cpu.current;
	switch (kind.kind) {
	case Kind::minor_fault:
	case Kind::major_fault:
		(kind.kind == Kind::minor_fault ? thread.usage.minor_faults : thread.usage.major_faults) +=
		    is_counting_;
		if (thread.ring == Ring::fault || ((thread.ring == Ring::within || thread.ring == Ring::unknown) &&
						   kind.field[0].get<std::uint32_t>(event) != 0))
			thread.ring = Ring::user;
		cpu.fault_ticks = 0;
		return;
	case Kind::page_fault_user:
		if (thread.ring == Ring::fault)
			fault_never_completed(thread, cpu);
		take_edge(thread, cpu, fault_edge_);
		thread.ring = Ring::fault;
		cpu.fault_ticks = 0;
		return;
	default:
		return; // from kernel mode, within something that may or may not be bracketed
	}
}

} // namespace monitor::analyze
