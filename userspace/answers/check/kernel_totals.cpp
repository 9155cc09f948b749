// SPDX-License-Identifier: MIT
#include "kernel_totals.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/grow.h"

namespace monitor::check {
namespace {

constexpr std::uint64_t edge_ns = 100'000; // maximum time from the kernel's count of an interrupt to its token
constexpr std::uint32_t max_cpus = 8192;
// A thread is counted before it is first woken: at each of the two reads, one thread per CPU may be in between.
constexpr std::uint64_t thread_creations_per_cpu = 2;

// Rows of /proc/interrupts that have a probe: numbered devices, and these.
bool is_probed(const std::string &row)
{
	return std::isdigit(static_cast<unsigned char>(row[0])) || row == "LOC" || row == "RES" || row == "CAL" ||
	       row == "TLB" || row == "IWI";
}

// Faults that end in a signal do not complete.
constexpr std::uint64_t max_failing_faults = 100;

// Classes whose number a statement compares with an independent figure.
constexpr std::array witnessed_classes = {
    "sched_switch",
    "sched_wakeup_new",
    "sched_migrate_task",
    "irq_handler_entry",
    "irq_handler_exit",
    "softirq_entry",
    "softirq_exit",
    "local_timer_entry",
    "local_timer_exit",
    "reschedule_entry",
    "reschedule_exit",
    "call_function_entry",
    "call_function_exit",
    "call_function_single_entry",
    "call_function_single_exit",
    "irq_work_entry",
    "irq_work_exit",
    "sys_enter",
    "sys_exit",
    "minor_fault",
    "major_fault",
    "cpu_idle",
};

} // namespace

OtherInterrupts other_interrupts(const KernelCounts &start, const KernelCounts &end)
{
	OtherInterrupts others;
	for (const auto &[row, last] : end.interrupt_rows) {
		const auto first = start.interrupt_rows.find(row);
		if (row.empty() || first == start.interrupt_rows.end())
			continue;
		const std::uint64_t more = last - std::min(first->second, last);
		if (!is_probed(row))
			others.unprobed += more;
		else if (row == "TLB")
			others.shootdowns = more;
	}
	return others;
}

std::optional<Statement> judge_step_back(const char *id, const char *what, std::uint64_t start, std::uint64_t end,
					 bool sums_32_bits, std::uint64_t counted)
{
	if (end >= start)
		return std::nullopt;
	const bool may_start_again = sums_32_bits && (start - end >= many_counted || counted >= many_counted);
	return Statement(id, may_start_again ? Verdict::not_checked : Verdict::fails,
			 "{}: the count of /proc/stat went back, from {} to {}{}", what, start, end,
			 may_start_again ? "; it sums 32-bit counts of the CPUs, one of which may have started again"
					 : "");
}

KernelTotals::KernelTotals(const trace::Description &description, const EventKinds &kinds, const RecordingInfo &info)
    : kinds_(kinds), info_(info)
{
	for (const trace::EventClass *cls : description.find("cpu_idle")) {
		idle_class_ = cls;
		idle_state_ = {*cls, "state"};
	}
	if (!info.kernel_counts.start || !info.kernel_counts.end)
		return;
	const KernelCounts &start = *info.kernel_counts.start, &end = *info.kernel_counts.end;
	const std::uint64_t edge = description.clock.to_ticks(edge_ns);
	stat_exactly_ = {start.before, start.after, end.before, end.after};
	stat_ = {start.before, start.after + edge, end.before, end.after + edge};
	idle_ = {start.idle_before, start.idle_after + edge, end.idle_before, end.idle_after + edge};
}

void KernelTotals::Tally::add(const Window &window, std::uint64_t time)
{
	outer += time >= window.start_before && time <= window.end_after;
	inner += time >= window.start_after && time <= window.end_before;
}

// For events that the kernel counts right before their token. A virtual CPU may stall in between: if a CPU's first
// token after a read of the kernel's figures is of such an event, the figures may include it, however late the token
// is.
void KernelTotals::Tally::add(const Window &window, std::uint64_t time, std::uint64_t token_before)
{
	outer += time >= window.start_before && (time <= window.end_after || token_before <= window.end_after);
	inner += time > window.start_after && token_before > window.start_after && time <= window.end_before;
}

KernelTotals::OnCpu *KernelTotals::cpu_of(const trace::Event &event)
{
	if (!event.has_cpu() || event.stream->is_user() || event.cpu() >= max_cpus)
		return nullptr;
	return &grow_to(cpus_, event.cpu());
}

void KernelTotals::event(const trace::Event &event)
{
	const EventKind &kind = kinds_[*event.cls];
	OnCpu *const cpu = kind.kind == EventMeaning::counters ? nullptr : cpu_of(event);
	if (!cpu)
		return;
	const std::uint64_t token_before = std::exchange(cpu->last_token, event.time);
	if (event.cls == idle_class_)
		return on_idle(event, *cpu);
	switch (kind.kind) {
	case EventMeaning::sched_switch:
		return switches_.add(stat_exactly_, event.time, token_before);
	case EventMeaning::interrupt_entry:
	case EventMeaning::timer_entry:
		return (kinds_.is_softirq(kind.interrupt) ? softirqs_ : interrupts_)
		    .add(stat_, event.time, token_before);
	case EventMeaning::page_fault_user:
		++cpu->faults_begun;
		return;
	case EventMeaning::minor_fault:
	case EventMeaning::major_fault:
		++cpu->faults_completed;
		return;
	case EventMeaning::sched_wakeup_new:
		return thread_creations_.add(stat_, event.time);
	default:
		return;
	}
}

// A CPU enters and leaves idle states alternately: between two entries, or two exits, a token is missing.
void KernelTotals::on_idle(const trace::Event &event, OnCpu &cpu)
{
	const bool idle = idle_state_.get<std::int64_t>(event) != -1;
	if (!idle)
		idle_ends_.add(idle_, event.time);
	++idle_tokens_;
	idle_wrong_ += cpu.idle_known && cpu.idle == idle;
	cpu.idle_known = true;
	cpu.idle = idle;
}

// Hidden threads have no tokens: neither the switch away from one, nor an interrupt while it runs. Then only an excess
// of tokens is a contradiction.
Statement KernelTotals::compare(const char *id, const std::string &text, bool too_few, bool too_many, bool hidden)
{
	if (too_many || (too_few && !hidden))
		return {id, Verdict::fails, text};
	if (hidden)
		return {id, Verdict::not_checked,
			text + "; those of hidden threads, or of a CPU as it goes offline, are missing, so fewer is "
			       "not a contradiction"};
	return {id, Verdict::holds, text};
}

void KernelTotals::judge_stat(bool hidden, Statements &statements) const
{
	const KernelCounts &start = *info_.kernel_counts.start, &end = *info_.kernel_counts.end;
	const auto between = [&](const char *id, const char *what, std::uint64_t from, std::uint64_t to,
				 const Tally &tokens, std::uint64_t slack, bool sums_32_bits = false) {
		if (const auto stepped_back = judge_step_back(id, what, from, to, sums_32_bits))
			return statements.push_back(*stepped_back);
		const std::uint64_t kernel = to - from;
		statements.push_back(compare(
		    id,
		    fmt::format(
			"{}: /proc/stat counts {}, the tokens {} to {} (without and with those while it was read)",
			what, kernel, tokens.inner, tokens.outer),
		    kernel > tokens.outer + slack, kernel + slack < tokens.inner, hidden));
	};
	if (info_.has_tokens)
		between("context_switches", "context switches", start.context_switches, end.context_switches, switches_,
			0);
	if (info_.filtering())
		return; // recorded only for selected threads
	if (start.thread_creations && end.thread_creations && info_.has_program("sched_wakeup_new"))
		between("thread_creations", "threads created", *start.thread_creations, *end.thread_creations,
			thread_creations_, thread_creations_per_cpu * std::max<std::uint64_t>(info_.cpus, 1));
	if (start.softirqs && end.softirqs && info_.has_program("softirq_entry"))
		between("softirqs", "softirqs", *start.softirqs, *end.softirqs, softirqs_, 0, true);
}

void KernelTotals::judge_interrupts(bool hidden, Statements &statements) const
{
	if (!info_.has_program("irq_handler_entry") || info_.filtering())
		return statements.add("interrupts", Verdict::not_checked,
				      "interrupts: not all were recorded, nothing to compare");
	const KernelCounts &start = *info_.kernel_counts.start, &end = *info_.kernel_counts.end;
	const auto [unprobed, shootdowns] = other_interrupts(start, end);
	if (const auto stepped_back =
		judge_step_back("interrupts", "interrupts", start.interrupts, end.interrupts, true))
		return statements.push_back(*stepped_back);
	const std::uint64_t kernel = end.interrupts - start.interrupts;
	// A shared line runs several handlers, a vector may have none; the rows are read slightly later. A TLB
	// shootdown is a function call, and 7.3.4 counts it as both.
	statements.push_back(
	    compare("interrupts",
		    fmt::format("interrupts: /proc/stat counts {}, the tokens {} to {}, and {} on lines without a "
				"probe; {} TLB shootdowns, which some kernels count twice",
				kernel, interrupts_.inner, interrupts_.outer, unprobed, shootdowns),
		    kernel > interrupts_.outer + unprobed + shootdowns, kernel + unprobed < interrupts_.inner, hidden));
}

void KernelTotals::judge_idle(Statements &statements) const
{
	if (!info_.has_program("cpu_idle") || info_.filtering())
		return;
	if (idle_tokens_)
		statements.add("idle_states", idle_wrong_ ? Verdict::fails : Verdict::holds,
			       "idle states: of {} tokens {} do not alternate between entry and exit", idle_tokens_,
			       idle_wrong_);
	else
		statements.add("idle_states", Verdict::not_witnessed, "idle states: there are no tokens to check");
	const auto &start = info_.kernel_counts.start->idle_ends, &end = info_.kernel_counts.end->idle_ends;
	if (!start || !end || *end < *start)
		return statements.add("idle_usage", Verdict::not_witnessed,
				      start && end ? "idle states: cpuidle's counts started again, as a CPU was offline"
						   : "idle states: this kernel has no cpuidle that counts them");
	// A CPU that idles without cpuidle (polling, or before its first state) has tokens that cpuidle does not count.
	// cpuidle counts a state after the token of its end, with interrupts in between: at the first read, each CPU
	// may have an uncounted one.
	const std::uint64_t kernel = *end - *start;
	statements.add("idle_usage", kernel <= idle_ends_.outer + info_.cpus ? Verdict::holds : Verdict::fails,
		       "idle states: cpuidle counts {}, the tokens {} to {} (without and with those while it was read)",
		       kernel, idle_ends_.inner, idle_ends_.outer);
}

// Probes of completed faults are opened per CPU, at the start; those of their begins see all CPUs.
void KernelTotals::judge_faults(Statements &statements) const
{
	if (!info_.has_program("page_fault_user") || !info_.has_program("minor_fault") ||
	    !kinds_.has(EventMeaning::page_fault_user) || !kinds_.has(EventMeaning::minor_fault))
		return;
	std::string unseen;
	for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu)
		if (cpus_[cpu].faults_begun > max_failing_faults && cpus_[cpu].faults_completed == 0)
			unseen += fmt::format("{}CPU {}: {}", unseen.empty() ? "" : ", ", cpu, cpus_[cpu].faults_begun);
	statements.add("completed_faults", unseen.empty() ? Verdict::holds : Verdict::fails,
		       unseen.empty() ? "page faults: of each CPU on which some began, some are completed"
				      : "page faults: none is completed of those that began on a CPU that was offline "
					"at the start or later (" +
					    unseen + ")");
}

void KernelTotals::judge_unwitnessed(Statements &statements) const
{
	std::string names;
	std::uint64_t events = 0;
	for (const ClassCounts &counts : info_.classes) {
		if (std::ranges::find(witnessed_classes, std::string_view(counts.name)) != witnessed_classes.end())
			continue;
		if (names.find(counts.name) == std::string::npos)
			names += (names.empty() ? "" : ", ") + counts.name;
		events += counts.seen;
	}
	if (!names.empty())
		statements.add("unwitnessed", Verdict::not_witnessed,
			       "{} events that only the probes count, and nothing else: {}", events, names);
}

void KernelTotals::judge(bool hidden, Statements &statements) const
{
	judge_stat(hidden, statements);
	judge_interrupts(hidden, statements);
	judge_idle(statements);
	judge_faults(statements);
	judge_unwitnessed(statements);
}

} // namespace monitor::check
