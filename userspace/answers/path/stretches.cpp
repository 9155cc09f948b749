// SPDX-License-Identifier: MIT
#include "stretches.h"

#include <algorithm>
#include <utility>

namespace monitor::path {

using analyze::EventMeaning;

std::uint32_t ThreadStretches::name_at(std::uint64_t time) const
{
	const auto after = std::ranges::upper_bound(names, time, {}, &Name::since);
	if (names.empty())
		return Names::unknown;
	return after == names.begin() ? names.front().name : std::prev(after)->name;
}

ThreadStretches::Found ThreadStretches::before(std::uint64_t time) const
{
	const auto next = std::ranges::lower_bound(stretches, time, {}, &Stretch::begin);
	const std::uint64_t ends = next == stretches.end() ? end : next->begin;
	return {next == stretches.begin() ? nullptr : &*std::prev(next), ends};
}

bool ThreadStretches::has_slept_since(std::uint64_t time) const
{
	const auto first = std::ranges::lower_bound(stretches, time, {}, &Stretch::begin);
	return std::any_of(first, stretches.end(), [](const Stretch &each) { return each.kind == Kind::blocked; });
}

std::uint32_t Names::number(const std::string &text)
{
	const auto [found, is_new] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
	if (is_new)
		texts_.push_back(&found->first);
	return found->second;
}

Stretches::Lane &Stretches::lane(std::uint32_t cpu)
{
	if (cpu >= lanes_.size()) [[unlikely]]
		lanes_.resize(cpu + std::size_t{1});
	return lanes_[cpu];
}

std::uint32_t Stretches::index_of(const analyze::Thread &thread)
{
	const auto [found, is_new] = indices_.try_emplace(&thread, static_cast<std::uint32_t>(threads_.size()));
	if (is_new)
		threads_.emplace_back().thread = &thread;
	return found->second;
}

std::uint32_t Stretches::find(const analyze::Thread &thread) const
{
	const auto found = indices_.find(&thread);
	return found == indices_.end() || threads_[found->second].stretches.empty() ? nobody : found->second;
}

// A loss that ends at `from` counts: the state after it is unknown.
bool Stretches::has_lost(std::uint64_t from, std::uint64_t to) const
{
	const auto loss = std::ranges::lower_bound(losses_, from, {}, &trace::TimeRange::to);
	return loss != losses_.end() && loss->from < to;
}

void Stretches::add(ThreadStretches &of, Stretch stretch, std::uint64_t to)
{
	stretch.begin = std::max(stretch.begin, of.end);
	if (to <= stretch.begin)
		return;
	if (stretch.begin > of.end && !of.stretches.empty()) {
		Stretch unknown;
		unknown.begin = of.end;
		of.stretches.push_back(unknown);
	}
	note_name(of, stretch.begin);
	of.stretches.push_back(stretch);
	of.end = to;
}

void Stretches::note_name(ThreadStretches &of, std::uint64_t since)
{
	const std::string &name = of.thread->name;
	if (!of.names.empty() && (name.empty() || names_[of.names.back().name] == name))
		return;
	const std::uint32_t number = name.empty() ? Names::unknown : names_.number(name);
	if (!of.names.empty() && of.names.back().name == Names::unknown)
		of.names.back().name = number; // it also stands for the unknown name before
	else
		of.names.push_back({since, number});
}

void Stretches::spent(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to, analyze::Mode, bool)
{
	Lane &on = lane(cpu.number);
	if (!cpu.current) {
		if (on.unfound_to != from)
			on.unfound_from = from;
		on.unfound_to = to;
		return;
	}
	const analyze::Thread &thread = *cpu.current;
	if (thread.tid == 0 || thread.hidden)
		return;
	if (on.current != &thread) {
		on.current = &thread;
		on.stretches = &threads_[index_of(thread)];
	}
	ThreadStretches &of = *on.stretches;
	const bool goes_on = of.end == from && !of.stretches.empty() && of.stretches.back().kind == Kind::running &&
			     of.stretches.back().where == cpu.number;
	if (goes_on)
		of.end = to;
	else
		add(of, {.begin = from, .where = cpu.number, .kind = Kind::running}, to);
}

void Stretches::found(const analyze::Cpu &cpu, const analyze::Thread &thread)
{
	Lane &on = lane(cpu.number);
	if (thread.tid != 0 && !thread.hidden && on.unfound_to > on.unfound_from)
		add(threads_[index_of(thread)], {.begin = on.unfound_from, .where = cpu.number, .kind = Kind::running},
		    on.unfound_to);
	on.unfound_from = on.unfound_to = 0;
}

void Stretches::lost(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to)
{
	Lane &on = lane(cpu.number);
	on.unfound_from = on.unfound_to = 0;
	on.woken = nullptr;
	on.network = {};
	on.completed.reset();
	requests_.clear();
	if (from >= to)
		return; // no time was lost, but the running thread will not be found
	if (losses_.empty() || from > losses_.back().to)
		losses_.push_back({from, to});
	else
		losses_.back() = {std::min(losses_.back().from, from), std::max(losses_.back().to, to)};
}

void Stretches::waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to)
{
	ThreadStretches &of = threads_[index_of(thread)];
	Stretch stretch{
	    .begin = from, .where = thread.has_run ? known_cpu(thread.queue) : unknown_cpu, .kind = Kind::ready};
	for (const ThreadStretches::Queue &queue : of.queues) {
		if (queue.since > stretch.begin && queue.since < to) {
			add(of, stretch, queue.since);
			stretch.begin = queue.since;
		}
		stretch.where = queue.cpu;
	}
	of.queues.clear();
	add(of, stretch, to);
}

void Stretches::throttled(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to)
{
	ThreadStretches &of = threads_[index_of(thread)];
	of.queues.clear();
	add(of, {.begin = from, .where = unknown_cpu, .kind = Kind::throttled}, to);
}

// Whether a wake-up in a softirq is by the running thread's own system call: since the call began no hardware interrupt
// and no switch happened on this CPU, so the call raised the softirq, unless that was left over from a flood.
bool Stretches::is_of_its_call(const analyze::Waker &waker) const
{
	const analyze::Thread *thread = waker.thread;
	if (!recorded_.interrupts || !thread ||
	    !analyze::EventKinds::is_softirq(static_cast<std::uint32_t>(waker.interrupt)))
		return false;
	const std::uint64_t interrupted = thread->cpu < lanes_.size() ? lanes_[thread->cpu].interrupted : 0;
	return thread->ring == analyze::Ring::system_call && thread->syscall_known &&
	       std::max(interrupted, thread->out_time) < thread->syscall_since &&
	       fold_.cpus()[thread->cpu].interrupts.size() == 1;
}

void Stretches::set_end(Stretch &stretch, const analyze::Waker &waker)
{
	if (waker.interrupt >= 0 && !is_of_its_call(waker)) {
		stretch.end = End::interrupt;
		stretch.cause = static_cast<std::uint32_t>(waker.interrupt) << 16 | (waker.number & 0xffff);
	} else if (!waker.thread) {
		stretch.end = End::unknown;
	} else if (waker.thread->hidden) {
		stretch.end = End::hidden;
	} else {
		stretch.end = End::thread;
		stretch.cause = index_of(*waker.thread);
	}
}

std::uint32_t Stretches::call_of(const analyze::Thread &thread) const
{
	const bool is_unknown = !recorded_.calls && !thread.is_kernel;
	if (analyze::is_stop(thread.syscall))
		return thread.syscall;
	return thread.ring == analyze::Ring::fault ? in_fault : is_unknown ? unknown_call : thread.syscall;
}

void Stretches::slept(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker,
		      bool is_over)
{
	Stretch stretch{.begin = from, .where = call_of(thread), .kind = Kind::blocked};
	if (is_over)
		set_end(stretch, waker);
	ThreadStretches &of = threads_[index_of(thread)];
	of.queues.clear();
	add(of, stretch, to);
}

// One thread's exit_group ends all of its process: those that do not end by themselves may do so later than it.
void Stretches::note_exit(const analyze::Thread &thread, ThreadStretches &of)
{
	const bool is_known = thread.ring == analyze::Ring::system_call && thread.syscall_known;
	const std::string *call = is_known ? fold_.kinds().syscall_name(thread.syscall) : nullptr;
	const auto found = exits_.find(thread.tgid);
	const bool has_exited = found != exits_.end() && thread.born < found->second.time;
	if (call && *call == "exit_group") {
		if (!has_exited)
			exits_[thread.tgid] = {thread.syscall_since, index_of(thread), true};
	} else if (has_exited && !(call && *call == "exit")) {
		of.exchanges.push_back(found->second);
	}
}

// An exec ends the other threads of its process, then sleeps until the last one has ended (de_thread in the kernel's
// fs/exec.c): of what that one did, only what followed the beginning of this sleep was waited for.
void Stretches::note_exec(const analyze::Thread &thread, const ThreadStretches &of)
{
	std::uint64_t woken = of.end;
	for (auto slept = of.stretches.rbegin(); slept != of.stretches.rend() && slept->begin >= thread.syscall_since;
	     woken = slept->begin, ++slept) {
		if (slept->kind != Kind::blocked || slept->end != End::thread)
			continue;
		const std::string *call = fold_.kinds().syscall_name(slept->where);
		ThreadStretches &other = threads_[slept->cause];
		const bool has_ended = other.died >= woken && other.thread->tgid == thread.tgid;
		const bool is_noted = !other.exchanges.empty() && other.exchanges.back().is_exit;
		if (call && (*call == "execve" || *call == "execveat") && has_ended && !is_noted &&
		    !other.has_slept_since(woken))
			other.exchanges.push_back({slept->begin, index_of(thread), true});
	}
}

void Stretches::ended(const analyze::Thread &thread, std::uint64_t time)
{
	ThreadStretches &of = threads_[index_of(thread)];
	if (thread.state == analyze::State::dead) {
		of.died = time;
		note_exit(thread, of);
	} else {
		of.died = 0; // it has the number of a first thread that had ended
		of.executed = of.executed ? of.executed : time;
		note_exec(thread, of);
	}
	note_name(of, time);
}

void Stretches::exchanged(const analyze::Thread &one, const analyze::Thread &other)
{
	const std::uint32_t indices[] = {index_of(one), index_of(other)};
	const std::uint64_t time = std::max(threads_[indices[0]].end, threads_[indices[1]].end);
	threads_[indices[0]].exchanges.push_back({time, indices[1]});
	threads_[indices[1]].exchanges.push_back({time, indices[0]});
}

void Stretches::after(const trace::Event &event)
{
	if (!event.has_cpu() || event.cpu() >= fold_.cpus().size() || event.stream->is_user())
		return;
	Lane &on = lane(event.cpu());
	const analyze::Thread *just_woken = std::exchange(on.woken, nullptr);
	const analyze::EventKind &kind = fold_.kinds()[*event.cls];
	switch (kind.kind) {
	case EventMeaning::interrupt_entry:
	case EventMeaning::timer_entry:
	case EventMeaning::interrupt_exit:
		return note_interrupt(kind, event, on);
	case EventMeaning::softirq_raise:
		return note_raise(kind, event, on);
	case EventMeaning::block_io_start:
	case EventMeaning::block_rq_issue:
	case EventMeaning::block_rq_complete:
		return note_request(kind, event, on);
	case EventMeaning::sched_waking:
	case EventMeaning::new_thread_woken:
		return woken(fold_.thread(kind.field[0].get<std::int32_t>(event)), event, kind.field[1]);
	case EventMeaning::sched_migrate_task:
		return migrated(kind, event, just_woken);
	case EventMeaning::sched_wakeup_new:
	case EventMeaning::sched_process_fork:
		return created(kind, event);
	case EventMeaning::task_rename:
		return renamed(kind, event);
	default:
		return;
	}
}

void Stretches::note_interrupt(const analyze::EventKind &kind, const trace::Event &event, Lane &on)
{
	const bool is_entry = kind.kind != EventMeaning::interrupt_exit;
	on.completed.reset();
	if (!analyze::EventKinds::is_softirq(kind.interrupt))
		on.interrupted = is_entry ? event.time : on.interrupted;
	else if (const auto vec = kind.field[0].get<std::uint32_t>(event); is_entry && NetworkSoftirqs::is_network(vec))
		on.network.enter(vec);
}

// What a network softirq raises has the same cause as that softirq.
void Stretches::note_raise(const analyze::EventKind &kind, const trace::Event &event, Lane &on)
{
	constexpr std::uint32_t of_devices = 0; // EventKinds: irq_handler
	const auto vec = kind.field[0].get<std::uint32_t>(event);
	if (!NetworkSoftirqs::is_network(vec))
		return;
	const analyze::Cpu &cpu = fold_.cpus()[event.cpu()];
	Raised raised{Raised::By::several, 0, event.time};
	if (cpu.interrupts.empty()) {
		if (cpu.current && cpu.current->tid != 0 && !cpu.current->hidden && !cpu.current->filtered)
			raised = {Raised::By::thread, index_of(*cpu.current), event.time};
	} else if (const std::uint32_t which = cpu.interrupts.back() >> 16, number = cpu.interrupts.back() & 0xffff;
		   which == of_devices &&
		   fold_.kinds().interrupt_source(which, number) != analyze::InterruptSource::timer) {
		raised = {Raised::By::device, number, event.time};
	} else if (analyze::EventKinds::is_softirq(which) && NetworkSoftirqs::is_network(number) &&
		   on.network.handled(number).by != Raised::By::nobody) {
		raised = on.network.handled(number);
	}
	on.network.raise(vec, raised);
}

void Stretches::note_request(const analyze::EventKind &kind, const trace::Event &event, Lane &on)
{
	const auto device = kind.field[0].get<std::uint32_t>(event);
	const auto sector = kind.field[1].get<std::uint64_t>(event);
	const analyze::Cpu &cpu = fold_.cpus()[event.cpu()];
	if (!recorded_.requests)
		return;
	if (kind.kind == EventMeaning::block_io_start) {
		const bool is_flush = kind.field[2] && kind.field[2].get<std::uint32_t>(event) == 0;
		const bool is_known = cpu.current && cpu.current->tid != 0 && !cpu.current->hidden;
		requests_.start(device, sector, is_flush, {event.time, is_known ? index_of(*cpu.current) : nobody});
	} else if (kind.kind == EventMeaning::block_rq_issue) {
		requests_.issue(device, sector, event.time);
	} else {
		const Requests::Request request = requests_.complete(device, sector);
		if (!cpu.interrupts.empty())
			on.completed = {request.begin, request.thread, device, End::device};
	}
}

void Stretches::lead(Stretch &stretch, Lead lead, std::uint64_t time)
{
	lead.begin = std::min(lead.begin, time - 1);
	stretch.end = End::led;
	stretch.cause = static_cast<std::uint32_t>(leads_.size());
	leads_.push_back(lead);
}

void Stretches::explain_interrupt(Stretch &stretch, const analyze::Cpu &cpu, std::uint64_t time)
{
	if (cpu.interrupts.empty())
		return;
	Lane &on = lane(cpu.number);
	if (on.completed)
		return lead(stretch, *on.completed, time);
	const std::uint32_t interrupt = cpu.interrupts.back(), vec = interrupt & 0xffff;
	if (!recorded_.interrupts || !analyze::EventKinds::is_softirq(interrupt >> 16) ||
	    !NetworkSoftirqs::is_network(vec))
		return;
	const Raised &raised = on.network.handled(vec);
	switch (raised.by) {
	case Raised::By::nobody:
		return; // set_end() has decided by is_of_its_call()
	case Raised::By::device:
		stretch.end = End::network;
		stretch.cause = raised.who;
		return;
	case Raised::By::thread:
		if (threads_[raised.who].thread != cpu.current) // which has left the CPU meanwhile
			return lead(stretch, {raised.since, raised.who, interrupt, End::interrupt}, time);
		stretch.end = End::thread;
		stretch.cause = raised.who;
		return;
	case Raised::By::several:
		stretch.end = End::interrupt;
		stretch.cause = interrupt;
		return;
	}
}

void Stretches::woken(const analyze::Thread *thread, const trace::Event &event, const trace::FieldRef &cpu)
{
	if (!thread || thread->state != analyze::State::runnable || thread->since != event.time)
		return;
	ThreadStretches &of = threads_[index_of(*thread)];
	if (of.end == event.time && !of.stretches.empty() && of.stretches.back().kind == Kind::blocked) {
		const analyze::Cpu &on = fold_.cpus()[event.cpu()];
		Stretch &slept = of.stretches.back();
		explain_interrupt(slept, on, event.time);
		const bool is_other = on.current && on.current->tid != 0 && on.current->filtered && !on.current->hidden;
		if (slept.end == End::unknown && is_other) {
			slept.end = End::not_recorded;
			slept.cause = static_cast<std::uint32_t>(on.current->tgid);
		}
	}
	if (!cpu)
		return;
	of.queues.assign(1, {event.time, known_cpu(cpu.get<std::uint32_t>(event))});
	lane(event.cpu()).woken = thread;
}

// A migration right after the wake-up is the choice of the first queue, not a move.
void Stretches::migrated(const analyze::EventKind &kind, const trace::Event &event, const analyze::Thread *just_woken)
{
	const analyze::Thread *thread = fold_.thread(kind.field[0].get<std::int32_t>(event));
	if (!thread || !kind.field[1])
		return;
	std::vector<ThreadStretches::Queue> &queues = threads_[index_of(*thread)].queues;
	const std::uint32_t cpu = known_cpu(kind.field[1].get<std::uint32_t>(event));
	if (thread == just_woken && !queues.empty())
		queues.back().cpu = cpu;
	else if (thread->state == analyze::State::runnable)
		queues.push_back({event.time, cpu});
}

void Stretches::renamed(const analyze::EventKind &kind, const trace::Event &event)
{
	const analyze::Thread *thread = fold_.thread(kind.field[0].get<std::int32_t>(event));
	const auto found = indices_.find(thread);
	if (found != indices_.end())
		note_name(threads_[found->second], event.time);
}

void Stretches::created(const analyze::EventKind &kind, const trace::Event &event)
{
	const analyze::Thread *thread = fold_.thread(kind.field[0].get<std::int32_t>(event));
	const analyze::Thread *creator =
	    event.cpu() < fold_.cpus().size() ? fold_.cpus()[event.cpu()].current : nullptr;
	if (!thread)
		return;
	const std::uint32_t of = index_of(*thread);
	if (kind.kind == EventMeaning::sched_wakeup_new)
		woken(thread, event, kind.field[4]);
	if (creator && creator->tid != 0 && !creator->hidden && creator != thread)
		threads_[of].creator = index_of(*creator);
}

} // namespace monitor::path
