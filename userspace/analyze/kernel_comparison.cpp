// SPDX-License-Identifier: MIT
#include "kernel_comparison.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "monitor/card.h"

namespace monitor::analyze {
namespace {

constexpr std::uint64_t edge_ns = 100'000;          // the kernel counts a switch so long before its token at the most
constexpr std::uint64_t just_switched_ns = 200'000; // reading a thread's figures takes less
constexpr std::uint64_t tick_ns =
    20'000'000; // a running thread's sum_exec_runtime is two ticks of HZ=100 old at the most
constexpr std::uint64_t least_tolerance_ns = 200'000;
constexpr std::uint64_t neighbour_ns = 5'000'000; // what one slow pick of the next thread moves between neighbours
// A virtual CPU that stands still within a switch moves so much, seldom: from one thread to the next, none is lost.
constexpr std::uint64_t stall_ns = 50'000'000;
constexpr std::uint64_t stalled_threads = 2, stalled_parts = 100; // these, or one in so many threads
constexpr std::uint64_t per_irq_ns = 2'000;                       // an interrupt's way to its token
constexpr std::uint64_t tolerance_parts = 200;                    // 0.5 %
// Within one switch the kernel takes its clock before it picks the next thread (and balances load, and programs a
// timer), the token after it: the time between goes to another thread. Tens of us in a VM; more on a slower machine,
// where an event's calibrated cost is higher too. The sum over all threads has no such slack.
constexpr double least_per_switch_ns = 250'000, event_costs_per_switch = 1000;

// Rows of /proc/interrupts that have a probe: devices by number and these.
bool is_probed(const std::string &row)
{
	return std::isdigit(static_cast<unsigned char>(row[0])) || row == "LOC" || row == "RES" || row == "CAL" ||
	       row == "TLB" || row == "IWI";
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b)
{
	return a > b ? a - b : b - a;
}

} // namespace

KernelComparison::KernelComparison(const EventKinds &kinds, const trace::Clock &clock, const RecordingInfo &info)
    : kinds_(kinds), clock_(clock), info_(info), edge_ticks_(clock.to_ticks(edge_ns)),
      per_switch_ns_(least_per_switch_ns)
{
	if (const auto cost = info.cost_ns.find("sched"); cost != info.cost_ns.end())
		per_switch_ns_ = std::max(per_switch_ns_, cost->second * event_costs_per_switch);
	if (info.start_counts && info.end_counts)
		for (std::size_t cpu = 0; cpu < info.end_counts->steal_ns.size(); ++cpu)
			steal_ns_ += info.end_counts->steal_ns[cpu] -
				     (cpu < info.start_counts->steal_ns.size()
					  ? std::min(info.start_counts->steal_ns[cpu], info.end_counts->steal_ns[cpu])
					  : 0);
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
	if (tid <= 0 || tid > largest_tid)
		return nullptr;
	const auto place = static_cast<std::size_t>(tid);
	if (place >= tallies_.size())
		tallies_.resize(std::max(place + 1, tallies_.size() * 2));
	return &tallies_[place];
}

void KernelComparison::count_in_window(const trace::Event &event, std::uint64_t &inner, std::uint64_t &outer) const
{
	if (!info_.start_counts || !info_.end_counts)
		return;
	outer += event.time >= info_.start_counts->before && event.time <= info_.end_counts->after + edge_ticks_;
	inner += event.time >= info_.start_counts->after + edge_ticks_ && event.time <= info_.end_counts->before;
}

void KernelComparison::event(const trace::Event &event)
{
	const EventKind &kind = kinds_[*event.cls];
	switch (kind.kind) {
	case Kind::sched_switch:
		count_in_window(event, inner_switches_, outer_switches_);
		return on_switch(event, kind);
	case Kind::interrupt_entry:
	case Kind::timer_entry:
		if (!kinds_.is_softirq(kind.interrupt))
			count_in_window(event, inner_interrupts_, outer_interrupts_);
		return on_interrupt(event, true);
	case Kind::interrupt_exit:
		return on_interrupt(event, false);
	case Kind::minor_fault:
	case Kind::major_fault: {
		if (event.cpu() >= cpus_.size())
			return;
		if (Tally *running = tally(cpus_[event.cpu()].tid))
			++(kind.kind == Kind::minor_fault ? running->min : running->maj);
		return;
	}
	case Kind::sched_waking:
		if (Tally *woken = tally(kind.field[0].get<std::int32_t>(event)))
			woken->waking_time = event.time;
		return;
	case Kind::thread_state:
		return on_state(event, kind);
	case Kind::thread_counts:
		return on_counts(event, kind);
	case Kind::sched_wakeup_new:
		return on_born(event, kind);
	default:
		return;
	}
}

void KernelComparison::on_switch(const trace::Event &event, const EventKind &kind)
{
	if (event.cpu() >= cpus_.size())
		cpus_.resize(std::min<std::size_t>(event.cpu(), 8192) + 1);
	OnCpu &cpu = cpus_[std::min<std::size_t>(event.cpu(), 8192)];
	const auto prev = kind.field[1].get<std::int32_t>(event), next = kind.field[2].get<std::int32_t>(event);
	if (Tally *out = tally(prev)) {
		++out->switches;
		if (out->in_time)
			out->ticks += event.time - out->in_time;
		else
			out->came_unseen = true;
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
	cpu.tid = next;
	cpu.irq_depth = 0;
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

void KernelComparison::on_state(const trace::Event &event, const EventKind &kind)
{
	const auto flags = kind.field[8].get<std::uint32_t>(event);
	Tally *thread = tally(kind.field[1].get<std::int32_t>(event));
	if (!thread)
		return;
	thread->said_running = flags & EDC_THREAD_RUNNING;
	any_hidden_ |= (flags & EDC_THREAD_HIDDEN) && !thread->born;
}

void KernelComparison::on_born(const trace::Event &event, const EventKind &kind)
{
	Tally *born = tally(kind.field[0].get<std::int32_t>(event));
	if (!born || (info_.start_time && event.time < *info_.start_time))
		return;
	*born = {};
	born->based = born->born = true;
}

void KernelComparison::on_counts(const trace::Event &event, const EventKind &kind)
{
	const auto tid = kind.field[1].get<std::int32_t>(event);
	const auto when = kind.field[0].get<std::uint32_t>(event);
	Tally *thread = tally(tid);
	if (!thread)
		return;
	if (when != EDC_WHEN_START) {
		if (thread->based)
			compare(tid, *thread, event, kind, when == EDC_WHEN_EXIT);
		const bool born = thread->born;
		*thread = {};
		thread->born = born;
		return;
	}
	const bool fresh = clock_.to_ns(event.time - std::min(thread->last_switch, event.time)) < just_switched_ns;
	const bool running = thread->in_time != 0 || thread->said_running;
	const std::uint64_t last_switch = thread->last_switch;
	*thread = {};
	thread->said_running = running;
	thread->based = true;
	thread->uncertain = running || (fresh && last_switch);
	thread->in_time = running ? event.time : 0;
	thread->last_switch = last_switch;
	thread->base_switches = kind.field[2].get(event) + kind.field[3].get(event);
	thread->base_exec_ns = kind.field[4].get(event);
	thread->base_min = kind.field[5].get(event);
	thread->base_maj = kind.field[6].get(event);
}

void KernelComparison::compare(std::int32_t tid, Tally &thread, const trace::Event &event, const EventKind &kind,
			       bool at_exit)
{
	const bool running = thread.in_time != 0 || (thread.said_running && !at_exit);
	if (thread.in_time)
		thread.ticks += event.time - thread.in_time;
	const bool fresh =
	    !at_exit && clock_.to_ns(event.time - std::min(thread.last_switch, event.time)) < just_switched_ns;
	const std::uint64_t slack = thread.uncertain + (running || fresh);
	const std::uint64_t kernel_switches =
	    kind.field[2].get(event) + kind.field[3].get(event) - thread.base_switches;
	switches_.add(tid, kernel_switches, thread.switches, distance(kernel_switches, thread.switches) <= slack);

	uncertain_threads_ += slack;
	late_ticks_ += thread.late_ticks;
	const std::uint64_t kernel_ns = kind.field[4].get(event) - thread.base_exec_ns;
	if (any_hidden_ && thread.came_unseen)
		beside_hidden_.add(tid, kernel_ns, clock_.to_ns(thread.ticks), true);
	else
		exec_.add(tid, kernel_ns, clock_.to_ns(thread.ticks), exec_agrees(thread, kernel_ns, slack));

	// The kernel also counts faults that it takes on a process's behalf without its registers (get_user_pages):
	// those have no event, so tokens may be fewer, never more.
	const std::uint64_t kernel_min = kind.field[5].get(event) - thread.base_min;
	const std::uint64_t kernel_maj = kind.field[6].get(event) - thread.base_maj;
	min_.add(tid, kernel_min, thread.min,
		 kind.field[5].get(event) >= thread.base_min && thread.min <= kernel_min + slack);
	maj_.add(tid, kernel_maj, thread.maj,
		 kind.field[6].get(event) >= thread.base_maj && thread.maj <= kernel_maj + slack);
}

// Within 0.5 % and the edges, less interrupts where this kernel takes them out.
bool KernelComparison::exec_agrees(const Tally &thread, std::uint64_t kernel_ns, std::uint64_t slack) const
{
	const std::uint64_t ours_ns = clock_.to_ns(thread.ticks);
	const std::uint64_t tolerance =
	    std::max(least_tolerance_ns, ours_ns / tolerance_parts) + steal_ns_ + slack * tick_ns + neighbour_ns +
	    clock_.to_ns(2 * info_.skew_ticks) +
	    static_cast<std::uint64_t>(static_cast<double>(thread.switches) * per_switch_ns_);
	if (kernel_ns > ours_ns + tolerance + clock_.to_ns(thread.late_ticks))
		return false;
	if (!info_.irq_time_taken_out)
		return kernel_ns + tolerance >= ours_ns;
	const bool irqs_known = info_.has_program("irq_handler_entry") && !info_.filtering();
	return !irqs_known ||
	       kernel_ns + tolerance + clock_.to_ns(thread.irq_ticks) + thread.irqs * per_irq_ns >= ours_ns;
}

void KernelComparison::judge_context_switches(std::vector<Statement> &statements) const
{
	const std::uint64_t kernel = info_.end_counts->context_switches - info_.start_counts->context_switches;
	// What a hidden thread does has no token: not its way out, not an interrupt that it meets.
	const bool holds = kernel >= inner_switches_ && (any_hidden_ || kernel <= outer_switches_) &&
			   info_.end_counts->context_switches >= info_.start_counts->context_switches;
	statements.push_back(
	    {"context_switches", holds ? Verdict::holds : Verdict::fails,
	     fmt::format("context switches: /proc/stat counts {}, the tokens {} to {} (the edges of reading it)",
			 kernel, inner_switches_, outer_switches_)});
}

void KernelComparison::judge_interrupts(std::vector<Statement> &statements) const
{
	if (!info_.has_program("irq_handler_entry") || info_.filtering()) {
		statements.push_back(
		    {"interrupts", Verdict::not_checked, "interrupts: not all were recorded, nothing to compare"});
		return;
	}
	std::uint64_t unprobed = 0;
	for (const auto &[row, end] : info_.end_counts->interrupt_rows) {
		const auto start = info_.start_counts->interrupt_rows.find(row);
		if (!row.empty() && !is_probed(row) && start != info_.start_counts->interrupt_rows.end())
			unprobed += end - std::min(start->second, end);
	}
	const std::uint64_t kernel = info_.end_counts->interrupts - info_.start_counts->interrupts;
	// A shared line runs several handlers, a vector may have no handler; the unprobed rows are read a little later.
	const bool holds = kernel + unprobed >= inner_interrupts_ &&
			   (any_hidden_ || kernel <= outer_interrupts_ + unprobed) &&
			   info_.end_counts->interrupts >= info_.start_counts->interrupts;
	statements.push_back(
	    {"interrupts", holds ? Verdict::holds : Verdict::fails,
	     fmt::format("interrupts: /proc/stat counts {}, the tokens {} to {}, and {} on lines without a probe",
			 kernel, inner_interrupts_, outer_interrupts_, unprobed)});
}

bool KernelComparison::judge_total_time(std::vector<Statement> &statements) const
{
	const std::uint64_t irq_ns = info_.irq_time_taken_out ? exec_.ours : 0; // then the kernel's sum may be lower
	const std::uint64_t tolerance =
	    std::max(least_tolerance_ns, exec_.ours / tolerance_parts) + steal_ns_ + uncertain_threads_ * tick_ns;
	const bool holds = exec_.kernel <= exec_.ours + tolerance + clock_.to_ns(late_ticks_) &&
			   exec_.kernel + tolerance + irq_ns >= exec_.ours;
	statements.push_back(
	    {"total_cpu_time", holds ? Verdict::holds : Verdict::fails,
	     fmt::format("CPU time of all these threads: the kernel counts {} ns, the tokens {} ns, within {} ns",
			 exec_.kernel, exec_.ours, tolerance)});
	return holds;
}

void KernelComparison::judge_threads(std::vector<Statement> &statements) const
{
	const auto state = [&](const char *id, const char *what, const Sum &sum, const char *unit, bool stalled) {
		std::string text = fmt::format("{} of {} threads: the kernel counts {}{}, the tokens {}{}", what,
					       sum.threads, sum.kernel, unit, sum.ours, unit);
		if (sum.wrong)
			text += fmt::format("; {} threads disagree, thread {} most: {} against {}{}", sum.wrong,
					    sum.worst.tid, sum.worst.kernel, sum.worst.ours,
					    stalled ? " (not the sum: a CPU stood still as threads switched)" : "");
		statements.push_back({id, sum.wrong && !stalled ? Verdict::fails : Verdict::holds, text});
	};
	std::vector<Statement> total;
	const bool stalled = judge_total_time(total) &&
			     exec_.wrong <= std::max(stalled_threads, exec_.threads / stalled_parts) &&
			     distance(exec_.worst.kernel, exec_.worst.ours) <= stall_ns;
	state("thread_switches", "context switches", switches_, "", false);
	state("thread_cpu_time", "CPU time", exec_, " ns", stalled);
	if (beside_hidden_.threads)
		statements.push_back(
		    {"cpu_time_beside_hidden", Verdict::not_checked,
		     fmt::format(
			 "CPU time of {} threads that a hidden thread gave the CPU to, unseen: the kernel counts "
			 "{} ns, the tokens {} ns",
			 beside_hidden_.threads, beside_hidden_.kernel, beside_hidden_.ours)});
	statements.insert(statements.end(), total.begin(), total.end());
	if (info_.has_program("minor_fault") && !info_.filtering()) {
		state("thread_minor_faults", "minor faults", min_, "", false);
		state("thread_major_faults", "major faults", maj_, "", false);
	}
}

void KernelComparison::judge(bool lossless, std::vector<Statement> &statements) const
{
	if (info_.card == "user") {
		statements.push_back(
		    {"kernel_figures", Verdict::not_checked, "kernel events were not recorded, nothing to compare"});
		return;
	}
	if (!info_.start_counts || !info_.end_counts) {
		statements.push_back(
		    {"kernel_figures", info_.complete ? Verdict::fails : Verdict::not_checked,
		     "the kernel's own figures at start and end are not in this trace, nothing to compare"});
		return;
	}
	if (!lossless) {
		statements.push_back(
		    {"kernel_figures", Verdict::not_checked,
		     "tokens were lost, so their number is not compared with the kernel's own figures"});
		return;
	}
	judge_context_switches(statements);
	judge_interrupts(statements);
	judge_threads(statements);
}

} // namespace monitor::analyze
