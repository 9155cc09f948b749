// SPDX-License-Identifier: MIT
#include "kernel_comparison.h"

#include <algorithm>
#include <utility>

#include "base/grow.h"
#include "monitor/card.h"

namespace monitor::check {
namespace {

constexpr std::uint64_t max_reading_ns = 200'000; // maximum time to read a thread's figures
constexpr std::uint64_t tick_ns = 20'000'000; // sum_exec_runtime of a running thread is up to two ticks of HZ=100 old
// /proc/stat counts steal time in whole ticks of USER_HZ: up to one too many at either reading.
constexpr std::uint64_t steal_tick_ns = 10'000'000;
constexpr std::uint64_t min_tolerance_ns = 200'000;
constexpr std::uint64_t neighbour_ns = 5'000'000; // moved between neighbours by one slow pick_next_task()
// A virtual CPU that stalls within a switch rarely moves up to this from one thread to the next; none is lost.
constexpr std::uint64_t stall_ns = 50'000'000;
constexpr std::uint64_t stalled_threads = 2, stalled_parts = 100; // allowed: 2 threads, or 1 in 100 if that is more
// A guest whose kernel does not count steal time may be stopped often: there, 1 in 4 of the threads that ran.
constexpr std::uint64_t steal_unknown_parts = 4;
constexpr std::uint64_t per_irq_ns = 2'000;    // from an interrupt to its token
constexpr std::uint64_t tolerance_parts = 200; // 0.5 %
constexpr std::uint64_t joint_parts = 166;     // 0.6 %, for all threads that followed a hidden one together
// A tolerance above 1/thread_parts of a thread's time, or 1/total_parts of all threads' time, makes the comparison
// meaningless.
constexpr std::uint64_t thread_parts = 2, total_parts = 10;
// Within one switch the kernel reads its clock before it picks the next thread (and balances load, and programs a
// timer); the token is posted afterwards. The time in between is charged to another thread: tens of us in a VM; more on
// a slower machine, where an event's calibrated cost is higher too. The sum over all threads has no such slack.
constexpr double min_per_switch_ns = 250'000, event_costs_per_switch = 1000;

std::uint64_t distance(std::uint64_t a, std::uint64_t b)
{
	return a > b ? a - b : b - a;
}

} // namespace

KernelComparison::KernelComparison(const EventKinds &kinds, const trace::Clock &clock, const RecordingInfo &info)
    : kinds_(kinds), clock_(clock), info_(info), per_switch_ns_(min_per_switch_ns)
{
	if (const auto cost = info.cost_ns.find("sched"); cost != info.cost_ns.end())
		per_switch_ns_ = std::max(per_switch_ns_, cost->second * event_costs_per_switch);
	if (info.kernel_counts.start && info.kernel_counts.end)
		for (std::size_t cpu = 0; cpu < info.kernel_counts.end->steal_ns.size(); ++cpu) {
			const std::uint64_t end = info.kernel_counts.end->steal_ns[cpu];
			const std::uint64_t start = cpu < info.kernel_counts.start->steal_ns.size()
							? info.kernel_counts.start->steal_ns[cpu]
							: 0;
			steal_ns_ += end > start ? end - start + steal_tick_ns : 0;
			counts_steal_ |= end > 0; // counted since boot
		}
}

void KernelComparison::Sum::add(std::int32_t tid, std::uint64_t from_kernel, std::uint64_t from_tokens, bool agrees)
{
	kernel += from_kernel;
	ours += from_tokens;
	++threads;
	if (agrees)
		return;
	++wrong;
	if (distance(from_kernel, from_tokens) >= distance(worst.kernel, worst.ours))
		worst = {tid, from_kernel, from_tokens};
}

KernelComparison::Tally *KernelComparison::tally(std::int32_t tid)
{
	return tid <= 0 || tid > largest_tid ? nullptr : &tallies_[tid];
}

KernelComparison::OnCpu *KernelComparison::cpu_of(const trace::Event &event)
{
	if (!event.has_cpu() || event.stream->is_user())
		return nullptr;
	const std::size_t cpu = std::min<std::size_t>(event.cpu(), 8192);
	return &grow_to(cpus_, cpu);
}

void KernelComparison::event(const trace::Event &event)
{
	const EventKind &kind = kinds_[*event.cls];
	switch (kind.kind) {
	case EventMeaning::sched_switch:
		return on_switch(event, kind);
	case EventMeaning::interrupt_entry:
	case EventMeaning::timer_entry:
		return on_interrupt(event, true);
	case EventMeaning::interrupt_exit:
		return on_interrupt(event, false);
	case EventMeaning::minor_fault:
	case EventMeaning::major_fault: {
		if (event.cpu() >= cpus_.size())
			return;
		if (Tally *running = tally(cpus_[event.cpu()].tid))
			++(kind.kind == EventMeaning::minor_fault ? running->min : running->maj);
		return;
	}
	case EventMeaning::sched_waking:
		if (Tally *woken = tally(kind.field[0].get<std::int32_t>(event)))
			woken->waking_time = event.time;
		return;
	case EventMeaning::sched_migrate_task:
		return on_migration(event, kind);
	case EventMeaning::thread_state:
		return on_state(event, kind);
	case EventMeaning::thread_counts:
		return on_counts(event, kind);
	case EventMeaning::sched_wakeup_new:
		return on_creation(event, kind);
	default:
		return;
	}
}

void KernelComparison::on_switch(const trace::Event &event, const EventKind &kind)
{
	OnCpu *const cpu = cpu_of(event);
	if (!cpu)
		return;
	const auto prev = kind.field[1].get<std::int32_t>(event), next = kind.field[2].get<std::int32_t>(event);
	if (Tally *out = tally(prev)) {
		++out->switches;
		if (out->in_time)
			out->ticks += event.time - out->in_time;
		else
			out->ran_unseen = true;
		out->in_time = 0;
		out->last_switch = event.time;
	}
	if (Tally *in = tally(next)) {
		if (prev == 0 && in->waking_time > in->last_switch)
			in->late_ticks += event.time - in->waking_time;
		in->waking_time = 0;
		in->in_time = event.time;
		in->last_switch = event.time;
	}
	cpu->tid = next;
	cpu->irq_depth = 0;
}

// The switch away is counted by the kernel, and has no token.
void KernelComparison::went_offline(const Cpu &cpu, const Thread &thread, std::uint64_t time)
{
	any_offline_ = true;
	if (cpu.number < cpus_.size())
		cpus_[cpu.number] = {0, 0, 0};
	Tally *const out = tally(thread.tid);
	if (!out)
		return;
	++out->switches;
	if (out->in_time)
		out->ticks += time - std::min(time, out->in_time);
	out->in_time = 0;
	out->last_switch = time;
}

// The kernel's figures stay with the thread when its number changes.
void KernelComparison::exchanged(const Thread &one, const Thread &other)
{
	tally(std::max(one.tid, other.tid)); // resizes the table for both
	Tally *of_one = tally(one.tid), *of_other = tally(other.tid);
	if (!of_one || !of_other)
		return;
	std::swap(*of_one, *of_other);
	for (OnCpu &cpu : cpus_)
		if (cpu.tid == one.tid || cpu.tid == other.tid)
			cpu.tid = cpu.tid == one.tid ? other.tid : one.tid;
}

void KernelComparison::on_interrupt(const trace::Event &event, bool entry)
{
	if (event.cpu() >= cpus_.size())
		return;
	OnCpu &cpu = cpus_[event.cpu()];
	if (entry && cpu.irq_depth++ == 0)
		cpu.irq_since = event.time;
	if (entry || cpu.irq_depth == 0 || --cpu.irq_depth != 0)
		return;
	if (Tally *running = tally(cpu.tid)) {
		running->irq_ticks += event.time - cpu.irq_since;
		++running->irqs;
	}
}

// The kernel counts a migration only if the CPU changes; the event also fires if it does not.
void KernelComparison::on_migration(const trace::Event &event, const EventKind &kind)
{
	Tally *thread = tally(kind.field[0].get<std::int32_t>(event));
	if (!thread || kind.field[1].get(event) == kind.field[2].get(event))
		return;
	++thread->migrations;
	thread->last_migration = event.time;
}

void KernelComparison::on_state(const trace::Event &event, const EventKind &kind)
{
	const auto flags = kind.field[8].get<std::uint32_t>(event);
	Tally *thread = tally(kind.field[1].get<std::int32_t>(event));
	if (!thread)
		return;
	thread->listed_running = flags & EDC_THREAD_RUNNING;
	thread->filtered = flags & EDC_THREAD_FILTERED;
	any_hidden_ |= (flags & EDC_THREAD_HIDDEN) && !thread->is_new;
}

void KernelComparison::on_creation(const trace::Event &event, const EventKind &kind)
{
	Tally *created = tally(kind.field[0].get<std::int32_t>(event));
	if (!created || (info_.start_time() && event.time < *info_.start_time()))
		return;
	*created = {};
	created->has_base = created->is_new = true;
	created->waking_time = event.time;
}

void KernelComparison::on_counts(const trace::Event &event, const EventKind &kind)
{
	const auto tid = kind.field[1].get<std::int32_t>(event);
	const auto when = kind.field[0].get<std::uint32_t>(event);
	Tally *thread = tally(tid);
	if (!thread)
		return;
	if (when != EDC_WHEN_START) {
		if (thread->has_base)
			compare(tid, *thread, event, kind, when == EDC_WHEN_EXIT);
		const bool is_new = thread->is_new;
		*thread = {};
		thread->is_new = is_new;
		return;
	}
	const bool just_switched =
	    clock_.to_ns(event.time - std::min(thread->last_switch, event.time)) < max_reading_ns;
	const bool running = thread->in_time != 0 || thread->listed_running;
	const bool migrated =
	    thread->last_migration && clock_.to_ns(event.time - thread->last_migration) < max_reading_ns;
	const std::uint64_t last_switch = thread->last_switch;
	const bool filtered = thread->filtered;
	*thread = {};
	thread->filtered = filtered;
	thread->migrated_at_base = migrated;
	thread->listed_running = running;
	thread->has_base = true;
	thread->uncertain = running || (just_switched && last_switch);
	thread->in_time = running ? event.time : 0;
	thread->last_switch = last_switch;
	thread->base_switches = kind.field[2].get(event) + kind.field[3].get(event);
	thread->base_exec_ns = kind.field[4].get(event);
	thread->base_min = kind.field[5].get(event);
	thread->base_maj = kind.field[6].get(event);
	thread->base_migrations = kind.field[7].get(event);
}

void KernelComparison::compare(std::int32_t tid, Tally &thread, const trace::Event &event, const EventKind &kind,
			       bool at_exit)
{
	const bool unseen = thread.listed_running && !at_exit && !thread.in_time; // it was not switched out in between
	const bool running = thread.in_time != 0 || unseen;
	if (thread.in_time)
		thread.ticks += event.time - thread.in_time;
	thread.ran_unseen |= unseen;
	const bool just_switched =
	    !at_exit && clock_.to_ns(event.time - std::min(thread.last_switch, event.time)) < max_reading_ns;
	const std::uint64_t slack = thread.uncertain + (running || just_switched);
	const std::uint64_t kernel_switches =
	    kind.field[2].get(event) + kind.field[3].get(event) - thread.base_switches;
	switches_.add(tid, kernel_switches, thread.switches, distance(kernel_switches, thread.switches) <= slack);

	uncertain_threads_ += slack;
	late_ticks_ += thread.late_ticks;
	const std::uint64_t kernel_ns = kind.field[4].get(event) - thread.base_exec_ns;
	const std::uint64_t tolerance = tolerance_of(thread, slack);
	if (any_hidden_ && thread.ran_unseen) {
		beside_hidden_.add(tid, kernel_ns, clock_.to_ns(thread.ticks), true);
	} else {
		exec_.add(tid, kernel_ns, clock_.to_ns(thread.ticks), exec_agrees(thread, kernel_ns, tolerance));
		threads_that_ran_ += kernel_ns > 0 || thread.ticks > 0;
		measured_threads_ += tolerance <= std::max(kernel_ns, clock_.to_ns(thread.ticks)) / thread_parts;
	}

	// The kernel also counts faults that it handles for a process without registers (get_user_pages): these have no
	// event, so tokens may be fewer, never more.
	const std::uint64_t kernel_min = kind.field[5].get(event) - thread.base_min;
	const std::uint64_t kernel_maj = kind.field[6].get(event) - thread.base_maj;
	min_.add(tid, kernel_min, thread.min,
		 kind.field[5].get(event) >= thread.base_min && thread.min <= kernel_min + slack);
	maj_.add(tid, kernel_maj, thread.maj,
		 kind.field[6].get(event) >= thread.base_maj && thread.maj <= kernel_maj + slack);

	counts_migrations_ |= static_cast<bool>(kind.field[7]);
	if (!kind.field[7] || thread.filtered)
		return;
	const std::uint64_t kernel_migrations = kind.field[7].get(event) - thread.base_migrations;
	const bool migrates =
	    !at_exit && thread.last_migration && clock_.to_ns(event.time - thread.last_migration) < max_reading_ns;
	const std::uint64_t uncertain_migrations = std::uint64_t{thread.migrated_at_base} + migrates;
	const bool too_few = thread.migrations + uncertain_migrations < kernel_migrations;
	const bool too_many = kernel_migrations + uncertain_migrations < thread.migrations;
	// A thread that a hidden thread migrates, by load balancing or waking, has no token of that.
	const bool any_unseen = any_hidden_ || any_offline_;
	unseen_migrations_ += any_unseen && too_few;
	migrations_.add(tid, kernel_migrations, thread.migrations, !too_many && (any_unseen || !too_few));
}

// 0.5 %, the edges, and what switches may move between neighbours; see the constants.
std::uint64_t KernelComparison::tolerance_of(const Tally &thread, std::uint64_t slack) const
{
	return std::max(min_tolerance_ns, clock_.to_ns(thread.ticks) / tolerance_parts) + steal_ns_ + slack * tick_ns +
	       neighbour_ns + clock_.to_ns(2 * info_.skew().ticks) +
	       static_cast<std::uint64_t>(static_cast<double>(thread.switches) * per_switch_ns_);
}

// The kernel's time may exclude interrupts.
bool KernelComparison::exec_agrees(const Tally &thread, std::uint64_t kernel_ns, std::uint64_t tolerance) const
{
	const std::uint64_t ours_ns = clock_.to_ns(thread.ticks);
	if (kernel_ns > ours_ns + tolerance + clock_.to_ns(thread.late_ticks))
		return false;
	if (!info_.irq_time_taken_out)
		return kernel_ns + tolerance >= ours_ns;
	const bool irqs_known = info_.has_program("irq_handler_entry") && !info_.filtering();
	return !irqs_known ||
	       kernel_ns + tolerance + clock_.to_ns(thread.irq_ticks) + thread.irqs * per_irq_ns >= ours_ns;
}

KernelComparison::Agreement KernelComparison::agreement(const Sum &sum) const
{
	const std::uint64_t irq_ns = info_.irq_time_taken_out ? sum.ours : 0; // then the kernel's sum may be lower
	Agreement result;
	result.tolerance_ns =
	    std::max(min_tolerance_ns, sum.ours / tolerance_parts) + steal_ns_ + uncertain_threads_ * tick_ns;
	result.agrees = sum.kernel <= sum.ours + result.tolerance_ns + clock_.to_ns(late_ticks_) &&
			sum.kernel + result.tolerance_ns + irq_ns >= sum.ours;
	// Idle and hidden threads are not in the sum, so it lacks what a stall within a switch moves to them.
	result.stalled = !result.agrees && sum.kernel < sum.ours &&
			 sum.kernel + result.tolerance_ns + irq_ns + stalled_threads * stall_ns >= sum.ours;
	return result;
}

// Time that a switch moves between neighbours is missing from the sum of one group and in that of the other; a stall
// may have moved some more to idle or hidden threads.
bool KernelComparison::agrees_with_beside_hidden() const
{
	Sum both = exec_;
	both.kernel += beside_hidden_.kernel;
	both.ours += beside_hidden_.ours;
	const Agreement found = agreement(both);
	return beside_hidden_.threads &&
	       (found.agrees || found.stalled ||
		distance(both.kernel, both.ours) <= std::max(both.kernel, both.ours) / joint_parts);
}

bool KernelComparison::judge_total_time(Statements &statements) const
{
	const auto [agrees, stalled, tolerance] = agreement(exec_);
	const bool is_joint = !agrees && !stalled && agrees_with_beside_hidden();
	const bool is_too_wide = tolerance > std::max(exec_.kernel, exec_.ours) / total_parts;
	const char *why = "";
	if (stalled)
		why = "; a CPU that stalled while it switched to idle or a hidden thread can explain the rest";
	else if (is_joint)
		why = "; together with that of the threads that followed a hidden one it agrees";
	else if (is_too_wide && agrees)
		why = ", which is more than a tenth of it";
	statements.add("total_cpu_time",
		       !agrees && !stalled && !is_joint     ? Verdict::fails
		       : stalled || is_joint || is_too_wide ? Verdict::not_checked
							    : Verdict::holds,
		       "CPU time of all these threads: the kernel counts {} ns, the tokens {} ns, within {} ns{}",
		       exec_.kernel, exec_.ours, tolerance, why);
	return agrees || stalled || is_joint;
}

void KernelComparison::judge_threads(Statements &statements) const
{
	const auto add_statement = [&](const char *id, const char *what, const Sum &sum, const char *unit,
				       const char *why) {
		std::string text = fmt::format("{} of {} threads: the kernel counts {}{}, the tokens {}{}", what,
					       sum.threads, sum.kernel, unit, sum.ours, unit);
		if (sum.wrong)
			text += fmt::format("; {} threads disagree, thread {} most: {} against {}{}", sum.wrong,
					    sum.worst.tid, sum.worst.kernel, sum.worst.ours, why);
		statements.add(id, sum.wrong && !*why ? Verdict::fails : Verdict::holds, text);
	};
	Statements total;
	const bool is_moved = judge_total_time(total) && distance(exec_.worst.kernel, exec_.worst.ours) <= stall_ns;
	const bool stalled = is_moved && exec_.wrong <= std::max(stalled_threads, exec_.threads / stalled_parts);
	const bool steal_unknown = is_moved && !stalled && info_.is_virtual && !counts_steal_ &&
				   exec_.wrong <= threads_that_ran_ / steal_unknown_parts;
	add_statement("thread_switches", "context switches", switches_, "", "");
	add_statement(
	    "thread_cpu_time", "CPU time", exec_, " ns",
	    stalled ? " (as where a CPU stalls while threads switch)"
	    : steal_unknown
		? " (this virtual machine does not count steal time, which moves time from one thread to the next)"
		: "");
	statements.back().text += fmt::format("; for {} of them, within half of their time or less", measured_threads_);
	// All ran for less than the tolerance, or the shift of their time is unexplained.
	if (statements.back().verdict == Verdict::holds && (measured_threads_ == 0 || steal_unknown))
		statements.back().verdict = Verdict::not_checked;
	if (beside_hidden_.threads)
		statements.add("cpu_time_beside_hidden", Verdict::not_checked,
			       "CPU time of {} threads that followed a hidden thread on a CPU: the kernel counts {} "
			       "ns, the tokens {} ns",
			       beside_hidden_.threads, beside_hidden_.kernel, beside_hidden_.ours);
	statements.insert(statements.end(), total.begin(), total.end());
	if (info_.has_program("minor_fault") && !info_.filtering()) {
		for (const auto &[id, what, sum] : {std::tuple("thread_minor_faults", "minor faults", &min_),
						    std::tuple("thread_major_faults", "major faults", &maj_)}) {
			add_statement(id, what, *sum, "", "");
			if (statements.back().verdict != Verdict::holds || sum->ours >= sum->kernel)
				continue;
			statements.back().verdict = Verdict::not_checked;
			statements.back().text += "; those that the kernel takes on a process's behalf have no event, "
						  "so fewer is not a contradiction";
		}
	}
}

void KernelComparison::judge_migrations(Statements &statements) const
{
	if (!info_.has_program("sched_migrate_task"))
		return;
	if (!counts_migrations_)
		return statements.add(
		    "thread_migrations", Verdict::not_witnessed,
		    "migrations: the kernel's own figures of threads in this trace do not include them");
	std::string text = fmt::format("migrations of {} threads: the kernel counts {}, the tokens {}",
				       migrations_.threads, migrations_.kernel, migrations_.ours);
	if (migrations_.wrong)
		text += fmt::format("; {} threads disagree, thread {} most: {} against {}", migrations_.wrong,
				    migrations_.worst.tid, migrations_.worst.kernel, migrations_.worst.ours);
	const Verdict without_wrong = unseen_migrations_ ? Verdict::not_checked : Verdict::holds;
	if (!migrations_.wrong && unseen_migrations_)
		text += fmt::format(
		    " (those caused by hidden threads, or as a CPU went offline, have no token: of {} threads)",
		    unseen_migrations_);
	statements.add("thread_migrations", migrations_.wrong ? Verdict::fails : without_wrong, std::move(text));
}

void KernelComparison::judge(Statements &statements) const
{
	judge_threads(statements);
	judge_migrations(statements);
}

} // namespace monitor::check
