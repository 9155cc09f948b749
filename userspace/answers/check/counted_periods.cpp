// SPDX-License-Identifier: MIT
#include "counted_periods.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "kernel_totals.h"
#include "witness.h"

namespace monitor::check {
namespace {

using Names = std::initializer_list<const char *>;

constexpr Names interrupt_classes = {"irq_handler_entry",   "local_timer_entry",          "reschedule_entry",
				     "call_function_entry", "call_function_single_entry", "irq_work_entry"};
constexpr std::uint64_t creations_per_cpu = 2; // as in kernel_totals.cpp

std::uint64_t sum_of(const std::map<std::string, std::uint64_t> &counted, Names names)
{
	std::uint64_t sum = 0;
	for (const char *name : names)
		if (const auto found = counted.find(name); found != counted.end())
			sum += found->second;
	return sum;
}

// The probes' counts were read before and after the kernel's: excluding and including events in between.
struct Counted {
	std::uint64_t inner, outer;
};

Counted counted(const KernelCounts &start, const KernelCounts &end, Names names)
{
	const std::uint64_t first = sum_of(start.counted_after, names), last = sum_of(end.counted_before, names);
	const std::uint64_t before = sum_of(start.counted_before, names), after = sum_of(end.counted_after, names);
	return {last - std::min(first, last), after - std::min(before, after)};
}

// A count of /proc/stat at both ends.
struct StatCount {
	std::uint64_t start, end;
	bool sums_32_bits = false;
};

// `unprobed`: interrupts that the kernel counts and no probe sees. `slack`: the number of events that the kernel may
// have counted and their probes not yet, when the counts were read.
Statement compare(const char *id, const char *what, const StatCount &of_kernel, const Counted &probes,
		  std::uint64_t slack, bool has_hidden, std::uint64_t unprobed = 0)
{
	if (const auto stepped_back =
		judge_step_back(id, what, of_kernel.start, of_kernel.end, of_kernel.sums_32_bits, probes.inner))
		return *stepped_back;
	const std::uint64_t kernel = of_kernel.end - of_kernel.start;
	const bool too_few = kernel > probes.outer + unprobed + slack,
		   too_many = kernel + unprobed + slack < probes.inner;
	std::string text =
	    fmt::format("{}: /proc/stat counts {}, the probes {} to {} (without and with those while it was read)",
			what, kernel, probes.inner, probes.outer);
	if (unprobed)
		text +=
		    fmt::format(", and {} are on lines without a probe or are counted twice by some kernels", unprobed);
	if (too_many && of_kernel.sums_32_bits && probes.inner >= many_counted)
		return {id, Verdict::not_checked,
			text + "; /proc/stat sums 32-bit counts of the CPUs, one of which may have started again"};
	if (has_hidden && !too_many)
		return {id, Verdict::not_checked,
			text + "; those of hidden threads are missing, so fewer is not a contradiction"};
	return {id, too_few || too_many ? Verdict::fails : Verdict::holds, text};
}

void judge_kernel(const RecordingInfo &info, bool has_hidden, Statements &statements)
{
	const KernelCounts &start = *info.kernel_counts.start, &end = *info.kernel_counts.end;
	const std::uint64_t cpus = std::max<std::uint64_t>(info.cpus, 1);
	if (info.attached("sched_switch"))
		statements.push_back(compare("context_switches", "context switches",
					     {start.context_switches, end.context_switches},
					     counted(start, end, {"sched_switch"}), cpus, has_hidden));
	if (info.filtering())
		return statements.add("kernel_figures", Verdict::not_checked,
				      "with -p only some of the kernel's other figures were counted");
	if (info.attached("sched_wakeup_new") && start.thread_creations && end.thread_creations)
		statements.push_back(
		    compare("thread_creations", "threads created", {*start.thread_creations, *end.thread_creations},
			    counted(start, end, {"sched_wakeup_new"}), creations_per_cpu * cpus, has_hidden));
	if (info.attached("softirq_entry") && start.softirqs && end.softirqs)
		statements.push_back(compare("softirqs", "softirqs", {*start.softirqs, *end.softirqs, true},
					     counted(start, end, {"softirq_entry"}), cpus, has_hidden));
	if (info.attached("irq_handler_entry")) {
		const OtherInterrupts others = other_interrupts(start, end);
		statements.push_back(compare("interrupts", "interrupts", {start.interrupts, end.interrupts, true},
					     counted(start, end, interrupt_classes), cpus, has_hidden,
					     others.unprobed + others.shootdowns));
	}
	for (const auto &[event, fired] : info.fault_counts) {
		std::uint64_t seen = 0;
		for (const ClassCounts &counts : info.classes)
			if (counts.name == event)
				seen += counts.seen;
		statements.add("fired_" + event,
			       seen == fired                ? Verdict::holds
			       : has_hidden && seen < fired ? Verdict::not_checked
							    : Verdict::fails,
			       "{}: the kernel fired it {} times, the probe counted {}", event, fired, seen);
	}
}

} // namespace

void judge_counted(const RecordingInfo &info, Statements &statements)
{
	const bool has_hidden = info.statistics->hidden_threads.value_or(1) != 0;
	if (info.lost() || info.missed())
		statements.add("kernel_figures", Verdict::not_checked,
			       "events were lost, so their numbers are not compared with the kernel's own figures");
	else if (!info.kernel_counts.start || !info.kernel_counts.end || info.kernel_counts.end->counted_after.empty())
		statements.add("kernel_figures", Verdict::not_checked,
			       "the kernel's own figures are not in this recording");
	else
		judge_kernel(info, has_hidden, statements);
	if (info.has_program("sys_enter"))
		statements.push_back(judge_calls(info));
}

} // namespace monitor::check
