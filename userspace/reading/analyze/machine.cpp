// SPDX-License-Identifier: MIT
#include "machine.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "fold.h"

namespace monitor::analyze {
namespace {

constexpr std::uint32_t largest_cpu = 8192;
constexpr std::int32_t kthreadd = 2;
constexpr std::uint64_t longest_exec_ns = 1'000'000'000; // from the exchange of numbers to the token: it reads a file

} // namespace

Machine::Machine(const Source &source, const RecordingInfo &info, Scope scope)
    : kinds_(source.description, source.partial), scope_(std::move(scope)), first_(source.window.from),
      last_(source.window.to), begin_(std::max(first_, std::min(scope_.range.from, last_))),
      end_(scope_.range.to < last_ ? std::max(begin_, scope_.range.to + 1) : last_), command_pid_(info.command_pid),
      filtering_(info.filtering()), complete_(info.complete()), gaps_coincide_(info.has_only_phases())
{
	if (info.present) {
		is_snapshot_ = info.flight.has_value();
		wakings_recorded_ = info.has_program("sched_waking");
		calls_bracketed_ = info.has_program("sys_enter") && info.has_program("sys_exit");
		interrupts_recorded_ = info.has_program("irq_handler_entry") && info.has_program("softirq_entry");
		user_bracketed_ =
		    calls_bracketed_ && info.has_program("page_fault_user") && info.has_program("minor_fault");
	}
	if (source.is_generic_ctf) {
		const std::string *tracer = source.description.find_env("tracer_name");
		has_untimed_ = first_ == 0 && tracer && *tracer == "perf";
		calls_bracketed_ = kinds_.has_calls();
		interrupts_recorded_ = kinds_.has(Kind::interrupt_entry);
		user_bracketed_ =
		    calls_bracketed_ && kinds_.has(Kind::page_fault_user) && kinds_.has(Kind::minor_fault);
	}
	all_bracketed_ = user_bracketed_ && interrupts_recorded_ && source.partial.empty();
	longest_exec_ = source.description.clock.to_ticks(longest_exec_ns);
	runners_found_ = calls_bracketed_ && kinds_.has(Kind::thread_runs);
	const auto calibrated = [&](const char *name) {
		const auto cost = info.cost_ns.find(name);
		const double ns = cost == info.cost_ns.end() ? 0 : cost->second;
		return ns > 0 && ns < 1e9 ? source.description.clock.to_ticks(static_cast<std::uint64_t>(ns)) : 0;
	};
	call_edge_ = calibrated("call_edge");
	fault_edge_ = calibrated("fault_edge");
	for (const auto &[stream, end_time] : source.streams) {
		add_stream(stream);
		if (!complete_ && stream.has_cpu() && stream.level == 0)
			ends_.push_back({end_time, stream.cpu});
	}
	std::ranges::sort(ends_, std::greater<>(), &StreamEnd::time);
	if (!ends_.empty())
		next_end_ = ends_.back().time;
}

void Machine::add_stream(const trace::StreamInfo &stream)
{
	writers_.resize(std::max<std::size_t>(writers_.size(), stream.index + std::size_t{1}));
	if (stream.has_cpu())
		cpu(stream.cpu);
}

Cpu &Machine::cpu(std::uint32_t number)
{
	number = std::min(number, largest_cpu);
	while (cpus_.size() <= number) {
		Cpu added;
		added.number = static_cast<std::uint32_t>(cpus_.size());
		added.accounted = first_;
		added.selected = scope_.includes_cpu(added.number);
		cpus_.push_back(added);
		idle_.push_back(nullptr);
	}
	return cpus_[number];
}

Thread *Machine::find(std::int32_t tid) const
{
	return by_tid_.find(tid); // hostile numbers all share one thread
}

// A thread that was never named is its own process until a token says otherwise.
Thread &Machine::get(std::int32_t tid)
{
	Thread *thread = find(tid);
	return thread ? *thread : fresh(tid);
}

Thread &Machine::fresh(std::int32_t tid)
{
	tid = tid < 0 || tid > largest_tid ? largest_tid : tid;
	Thread &thread = free_.empty() ? threads_.emplace_back() : threads_[free_.back()];
	thread.selected = scope_.includes_thread(free_.empty() ? threads_.size() - 1 : free_.back());
	if (!free_.empty())
		free_.pop_back();
	thread.tid = thread.tgid = tid;
	thread.filtered = filtering_;
	by_tid_[tid] = &thread;
	return thread;
}

Thread &Machine::idle(Cpu &cpu)
{
	Thread *&thread = idle_[cpu.number];
	if (!thread) {
		thread = &threads_.emplace_back();
		thread->name = "idle";
		thread->is_kernel = true;
		thread->selected = scope_.includes_thread(threads_.size() - 1);
		thread->cpu = cpu.number;
	}
	return *thread;
}

Thread &Machine::runner(Cpu &cpu, std::int32_t tid)
{
	return tid == 0 ? idle(cpu) : get(tid);
}

const Thread &Machine::leader(const Thread &thread) const
{
	if (thread.tid == thread.tgid)
		return thread; // its number may belong to another thread by now
	const Thread *leader = by_tid_.find(std::max(thread.tgid, 0));
	return leader && thread.tid != 0 && leader->tgid == thread.tgid ? *leader : thread;
}

std::unordered_set<const Thread *> Machine::that_ran() const
{
	std::unordered_set<const Thread *> ran;
	for (const Thread &thread : threads_)
		if (thread.so_far.cpu != 0)
			ran.insert({&thread, &leader(thread)});
	return ran;
}

std::uint64_t Machine::hidden_threads() const
{
	return static_cast<std::uint64_t>(std::ranges::count_if(threads_, &Thread::hidden));
}

// Of a snapshot's thread without a token so far: it was in this state since the begin, as its first token says, or that
// there is none. One that was created later has a token of that.
void Machine::was_since_begin(Thread &thread, State state)
{
	if (!is_snapshot_ || !wakings_recorded_ || epoch_ != 1 || thread.epoch != 0 || thread.born != 0 ||
	    thread.tid == 0 || thread.hidden || thread.filtered)
		return;
	renew(thread);
	thread.state = state;
	thread.since = first_;
}

// What was known before a loss no longer holds.
void Machine::renew(Thread &thread)
{
	if (thread.epoch == epoch_)
		return;
	thread.epoch = epoch_;
	thread.state = State::unknown;
	thread.early_waking = 0;
	forget_ring(thread);
}

// It is on no CPU since `time`. Within a loss it may run unseen: nothing is known until its next token.
void Machine::forget_unseen(Thread &thread, std::uint64_t time) const
{
	if (may_run_unseen(time))
		thread.epoch = 0;
}

void Machine::forget_ring(Thread &thread) const
{
	thread.ring = thread.is_kernel ? Ring::kernel : Ring::unknown;
	thread.syscall = EDC_NO_SYSCALL;
	thread.syscall_known = false;
}

namespace {

bool is_of_running_thread(Kind kind)
{
	return kind == Kind::sys_enter || kind == Kind::sys_exit || kind == Kind::page_fault_user ||
	       kind == Kind::minor_fault || kind == Kind::major_fault;
}

} // namespace

void Machine::contradict(Contradiction what, std::uint64_t time, const Cpu &cpu, const Thread &thread)
{
	for (Observer *observer : observers_)
		observer->contradiction(what, time, cpu.number, thread);
}

void Machine::gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to)
{
	if (stream.is_recorder())
		return;
	if (stream.is_user()) {
		if (to == open_end)
			++open_user_gaps_;
		else
			user_lossy_until_ = std::max(user_lossy_until_, to);
		is_counting_ = scope_.includes_time(from);
		for (Observer *observer : observers_)
			observer->user_gap(stream, static_cast<std::uint32_t>(writers_[stream.index].process));
		return;
	}
	lossy_until_ = std::max(lossy_until_, to);
	++gaps_;
	lose(cpu(stream.cpu), from, to);
}

void Machine::gap_ended(const trace::StreamInfo &stream, std::uint64_t to)
{
	if (stream.is_user()) {
		user_lossy_until_ = std::max(user_lossy_until_, to);
		open_user_gaps_ -= open_user_gaps_ > 0;
	}
	if (stream.is_recorder() || stream.is_user())
		return;
	Cpu &lost = cpu(stream.cpu);
	lost.known_gap_until = std::max(lost.known_gap_until, to);
	lost.open_gaps -= lost.open_gaps > 0;
	if (lost.open_gaps == 0)
		lost.gap_until = lost.known_gap_until;
	if (lossy_until_ != open_end)
		return;
	lossy_until_ = 0;
	for (const Cpu &each : cpus_)
		lossy_until_ = std::max(lossy_until_, each.gap_until);
	unseen_until_ = std::min(unseen_until_, lossy_until_);
}

void Machine::set_last(std::uint64_t time)
{
	last_ = time;
	end_ = scope_.range.to < last_ ? std::max(begin_, scope_.range.to + 1) : last_;
}

void Machine::lose(Cpu &lost, std::uint64_t from, std::uint64_t to)
{
	account(lost, from);
	leave_unfound(lost); // who is found after the loss need not have run before it
	if (to == open_end)
		++lost.open_gaps;
	else
		lost.known_gap_until = std::max(lost.known_gap_until, to);
	lost.gap_until = std::max(lost.gap_until, to);
	if (!gaps_coincide_)
		unseen_until_ = std::max(unseen_until_, to);
	lost.current = nullptr;
	lost.fault_ticks = lost.unknown_ticks = 0; // the fault may have completed
	lost.interrupts.clear();
	lost.interrupts_known = false;
	forget_others();
	for (Observer *observer : observers_)
		observer->lost(lost, from, to);
}

// Only what runs on a CPU remains known.
void Machine::forget_others()
{
	++epoch_;
	for (const Cpu &cpu : cpus_)
		if (cpu.current && cpu.current->epoch == epoch_ - 1)
			cpu.current->epoch = epoch_;
}

// The streams of a killed recording end at different times: after its end a CPU is as unknown as after a loss.
void Machine::end_streams(std::uint64_t time)
{
	for (; !ends_.empty() && ends_.back().time < time; ends_.pop_back())
		lose(cpu(ends_.back().cpu), ends_.back().time, ~0ull);
	next_end_ = ends_.empty() ? ~0ull : ends_.back().time;
}

void Machine::pass(std::uint64_t time)
{
	if (time > next_end_)
		end_streams(time);
}

void Machine::end_at(std::uint64_t time)
{
	pass(time);
	for (Cpu &cpu : cpus_)
		account(cpu, time);
}

void Machine::hide(std::int32_t tid)
{
	get(tid).hidden = true;
}

void Machine::event(const trace::Event &event)
{
	tokens_ += !event.is_control();
	if (has_untimed_ && event.time > 0) [[unlikely]]
		begin_at(event.time);
	pass(event.time);
	const EventKind &kind = kinds_[*event.cls];
	if (event.stream->is_user())
		return on_user(kind, event);
	if (event.stream->is_recorder() || !is_followed(event.time)) {
		if (!event.stream->is_recorder() && event.time < first_ && runners_found_ && !is_snapshot_)
			runs_before_start(kind, event);
		identity(kind, event);
		return;
	}
	Cpu &cpu = this->cpu(event.cpu());
	is_counting_ = cpu.selected && scope_.includes_time(event.time);
	if (was_offline(kind, event, cpu)) [[unlikely]]
		go_offline(cpu, event.time);
	account(cpu, event.time);
	if (cpu.is_offline) [[unlikely]]
		come_online(cpu, event.time);
	// The switch away from a hidden thread is hidden too.
	const bool hidden = cpu.current && cpu.current->hidden;
	if (hidden && is_of_running_thread(kind.kind))
		cpu.current = nullptr;
	// Within a loss a packet of another level may open, but the switches that follow are not seen. The counts of a
	// thread that ended are posted in the switch away from it, and so are a stack and what fires, which have the
	// switch's time.
	const bool in_switch = kind.kind == Kind::thread_counts || (cpu.switched && event.time == cpu.switched);
	if (event.opens_packet() && !in_switch && (!cpu.current || hidden) && event.time >= cpu.gap_until) {
		Thread &thread = runner(cpu, static_cast<std::int32_t>(event.packet_tid()));
		if (!hidden || !runners_found_ || thread.hidden)
			on_found(thread, cpu);
		else
			came_unseen(thread, cpu, event.time);
	}
	switch (kind.kind) {
	case Kind::sched_switch:
		return on_switch(kind, event, cpu);
	case Kind::thread_runs:
		return on_runs(kind, event, cpu);
	case Kind::sys_enter:
		return on_sys_enter(kind, event, cpu);
	case Kind::sys_exit:
		return on_sys_exit(kind, event, cpu);
	case Kind::sched_waking:
		return on_waking(get(kind.field[0].get<std::int32_t>(event)), cpu, event.time);
	case Kind::interrupt_entry:
	case Kind::interrupt_exit:
		return on_interrupt(kind, event, cpu);
	case Kind::timer_entry:
		return on_timer(kind, event, cpu);
	case Kind::page_fault_user:
	case Kind::page_fault_kernel:
	case Kind::minor_fault:
	case Kind::major_fault:
		return on_fault(kind, event, cpu);
	case Kind::counters:
		for (Observer *observer : observers_)
			observer->counters(cpu, event);
		return;
	case Kind::sample:
		return on_sample(kind, event, cpu);
	case Kind::stack_sample:
		return on_stack(kind, event, cpu);
	case Kind::function_entry:
	case Kind::function_exit:
		functions_of_unknown_ += !cpu.current && is_counting_;
		if (cpu.current && cpu.current->tid != 0 && cpu.current->selected) {
			is_counting_ &= is_selected(*cpu.current);
			for (Observer *observer : observers_)
				observer->function(*cpu.current,
						   {kind.kind == Kind::function_entry, event.time,
						    kind.field[0].get<std::uint32_t>(event), kind.field[1].get(event)});
		}
		return;
	case Kind::sched_migrate_task:
		get(kind.field[0].get<std::int32_t>(event)).usage.migrations += is_counting_;
		return;
	default:
		identity(kind, event);
	}
}

// An event posted by a program: its stream names the thread; the CPU's time up to now is accounted.
void Machine::on_user(const EventKind &kind, const trace::Event &event)
{
	Writer &writer = writers_[event.stream->index];
	if (event.opens_packet())
		writer = {static_cast<std::int32_t>(event.packet_tid()),
			  static_cast<std::int32_t>(event.packet_process())};
	if (kind.kind == Kind::user_thread) {
		writer = {kind.field[0].get<std::int32_t>(event), kind.field[1].get<std::int32_t>(event)};
		return;
	}
	Thread &thread = get(writer.tid);
	if (thread.name.empty() && thread.tgid == thread.tid)
		thread.tgid = writer.process;
	if (!is_followed(event.time))
		return;
	Cpu &cpu = this->cpu(event.stream->has_cpu() ? event.cpu() : thread.cpu);
	account(cpu, event.time);
	is_counting_ = cpu.selected && scope_.includes_time(event.time) && is_selected(thread);
	if (thread.selected)
		for (Observer *observer : observers_)
			observer->user_event(thread, event);
}

// Tokens that name threads apply also while not all probes were attached.
void Machine::identity(const EventKind &kind, const trace::Event &event)
{
	switch (kind.kind) {
	case Kind::sched_wakeup_new:
	case Kind::sched_process_fork:
		return on_born(kind, event);
	case Kind::new_thread_woken:
		return on_new_thread_woken(kind, event);
	case Kind::sched_process_exec:
		return on_exec(kind, event);
	case Kind::sched_process_exit:
		return on_exit(kind, event);
	case Kind::task_rename:
		return on_rename(kind, event);
	case Kind::process_state:
		return on_process_state(kind, event);
	case Kind::thread_state:
		return on_thread_state(kind, event);
	case Kind::thread_counts:
		return on_counts(kind, event);
	case Kind::cgroup_attach_task:
		return on_cgroup(kind, event);
	case Kind::stack_frames:
		return on_stack_frames(kind, event);
	case Kind::stack_end:
		return on_stack_end(kind, event);
	case Kind::mapping:
		return on_mapping(kind, event);
	case Kind::sync:
		for (Observer *observer : observers_)
			observer->clock_read(event.time, kind.field[0].get(event));
		return;
	case Kind::cpu_offline:
		if (kind.field[0].get(event) < cpus_.size())
			go_offline(cpus_[kind.field[0].get(event)], event.time);
		return;
	case Kind::statistics_period:
	case Kind::statistics_events:
	case Kind::statistics_cpu:
	case Kind::statistics_thread:
	case Kind::statistics_usage:
	case Kind::statistics_counts:
	case Kind::statistics_calls:
	case Kind::statistics_sleeps:
	case Kind::statistics_buckets:
	case Kind::statistics_activities:
	case Kind::statistics_inclusive:
	case Kind::statistics_open:
	case Kind::statistics_transfers:
		return on_statistics(kind, event);
	default:
		return;
	}
}

void Machine::on_born(const EventKind &kind, const trace::Event &event)
{
	const auto tid = kind.field[0].get<std::int32_t>(event);
	const auto parent_tid = kind.field[2].get<std::int32_t>(event);
	Thread &thread = fresh(tid);
	const Thread *parent = find(parent_tid);
	thread.tgid = kind.field[1].get<std::int32_t>(event);
	thread.parent = parent ? parent->tgid : parent_tid;
	thread.name = kind.field[3].get<std::string_view>(event);
	thread.born = event.time;
	thread.introduced = true;
	thread.filtered = filtering_ && (!parent || parent->filtered) && tid != command_pid_;
	thread.in_tree = (parent && parent->in_tree) || (command_pid_ && tid == command_pid_);
	thread.is_kernel = parent_tid == kthreadd || (parent && parent->is_kernel);
	if (parent) {
		thread.cgroup = cgroup_of(*parent);
		thread.cgroup_is_later = parent->cgroup_is_later;
	}
	lead(thread);
	if (!is_followed(event.time))
		return; // by the time that states are followed it may run, sleep or be gone
	thread.epoch = epoch_;
	thread.ring = Ring::kernel; // until it first returns to user mode
	thread.state = State::runnable;
	thread.since = event.time;
	forget_unseen(thread, event.time);
}

// Of other tracers: the thread exists since its fork, and waits for a CPU since now.
void Machine::on_new_thread_woken(const EventKind &kind, const trace::Event &event)
{
	Thread &thread = get(kind.field[0].get<std::int32_t>(event));
	if (is_known(thread) && thread.state == State::runnable && !thread.has_run)
		thread.since = event.time;
	else if (event.has_cpu() && is_followed(event.time))
		on_waking(thread, cpu(event.cpu()), event.time);
}

void Machine::on_rename(const EventKind &kind, const trace::Event &event)
{
	Thread &thread = get(kind.field[0].get<std::int32_t>(event));
	thread.name = kind.field[1].get<std::string_view>(event);
	if (kind.field[2]) // perf says whose thread it is
		thread.tgid = kind.field[2].get<std::int32_t>(event);
}

// LTTng lists them while it records: what the thread was doing then is not taken, its switches say that.
void Machine::on_process_state(const EventKind &kind, const trace::Event &event)
{
	const auto tid = kind.field[0].get<std::int32_t>(event);
	if (tid == 0)
		return;
	Thread &thread = get(tid);
	thread.tgid = kind.field[1].get<std::int32_t>(event);
	thread.parent = kind.field[2].get<std::int32_t>(event);
	thread.name = kind.field[3].get<std::string_view>(event);
	thread.is_kernel = kind.field[4].get<std::uint32_t>(event) == 1; // LTTNG_KERNEL_THREAD
	if (thread.is_kernel)
		thread.ring = Ring::kernel;
	lead(thread);
}

// Of events without a time nothing is known but what they say: the recording began with the first that has one.
void Machine::begin_at(std::uint64_t time)
{
	has_untimed_ = false;
	first_ = time;
	begin_ = std::max(begin_, std::min(time, end_));
	for (Cpu &cpu : cpus_)
		cpu.accounted = std::max(cpu.accounted, first_);
}

// In a flight recorder's snapshot it may be the only token that names the thread.
void Machine::on_exit(const EventKind &kind, const trace::Event &event)
{
	if (!kind.field[2])
		return;
	Thread &thread = get(kind.field[0].get<std::int32_t>(event));
	thread.filtered = false; // of others this is not recorded
	if (!thread.name.empty())
		return;
	if (kind.field[1])
		thread.tgid = kind.field[1].get<std::int32_t>(event);
	thread.name = kind.field[2].get<std::string_view>(event);
	thread.introduced = true;
}

// A thread of a process that has others.
void Machine::lead(const Thread &thread)
{
	if (Thread *leader = thread.tid != thread.tgid ? find(thread.tgid) : nullptr)
		leader->leads_others = true;
}

void Machine::on_cgroup(const EventKind &kind, const trace::Event &event)
{
	if (kind.field[3].get(event) != 0)
		return; // it moved in a hierarchy of cgroup 1
	Thread &named = get(kind.field[0].get<std::int32_t>(event));
	const std::uint64_t cgroup = kind.field[1].get(event);
	move(named, cgroup, event.time);
	const bool whole_process = kind.field[2].get(event) != 0; // then the token names the leader
	if (!whole_process || !named.leads_others)
		return;
	for (Thread &thread : threads_)
		if (thread.tgid == named.tgid && thread.state != State::dead && find(thread.tid) == &thread)
			move(thread, cgroup, event.time);
}

// What it used until now it used in the cgroup that it leaves; a wait or a sleep is divided when it ends.
void Machine::move(Thread &thread, std::uint64_t cgroup, std::uint64_t time)
{
	const std::uint64_t before = std::exchange(thread.cgroup_is_later, false) ? 0 : cgroup_of(thread);
	thread.cgroup = cgroup;
	if (before == cgroup)
		return;
	if (is_followed(time) && thread.cpu < cpus_.size() && cpus_[thread.cpu].current == &thread)
		account(cpus_[thread.cpu], time);
	if (before != 0 || !thread.usage.is_empty())
		thread.left.push_back({before, time, thread.usage});
}

// What a list of threads says. It was made at `time`, or, of a snapshot, later.
void Machine::list_cgroup(Thread &thread, std::uint64_t cgroup, std::uint32_t flags, std::uint64_t time)
{
	if (cgroup == 0)
		return;
	if (flags & EDC_THREAD_LATER && is_snapshot_)
		thread.cgroup_is_later = true;
	if (thread.cgroup == 0 || flags & EDC_THREAD_AT_END || thread.cgroup_is_later)
		thread.cgroup = cgroup;
	else
		move(thread, cgroup, time);
}

std::uint64_t Machine::cgroup_of(const Thread &thread) const
{
	return thread.cgroup ? thread.cgroup : leader(thread).cgroup;
}

void Machine::on_counts(const EventKind &kind, const trace::Event &event)
{
	const auto when = kind.field[0].get<std::uint32_t>(event);
	Thread &thread = get(kind.field[1].get<std::int32_t>(event));
	ThreadCounts &counts = when == EDC_WHEN_START ? thread.at_start
			       : when == EDC_WHEN_END ? thread.at_end
						      : thread.at_exit;
	counts = {true,
		  event.time,
		  kind.field[2].get(event),
		  kind.field[3].get(event),
		  kind.field[4].get(event),
		  kind.field[5].get(event),
		  kind.field[6].get(event)};
}

trace::Losses fold(trace::Trace &trace, Machine &machine)
{
	return fold(trace, machine, [](const trace::Event &) {});
}

} // namespace monitor::analyze
