// SPDX-License-Identifier: MIT
#include "machine_totals.h"

#include <string_view>

#include "recording/card/classes.h"

namespace monitor::live {

MachineTotals totals_of(const LiveFold &fold)
{
	const analyze::ThreadFold &thread_fold = fold.thread_fold();
	MachineTotals totals;
	totals.window = thread_fold.window_end() - thread_fold.window_begin();
	for (const analyze::Cpu &cpu : thread_fold.cpus()) {
		totals.usage += cpu.usage;
		totals.idle += cpu.idle;
	}
	for (const analyze::Thread &thread : thread_fold.threads()) {
		if (thread.tid == 0 || thread.state == analyze::State::dead)
			continue;
		++totals.threads;
		totals.usage.waiting += thread.usage.waiting;
		totals.usage.throttled += thread.usage.throttled;
		if (!thread_fold.is_known(thread))
			++totals.unknown;
		else
			++(thread.state == analyze::State::running     ? totals.running
			   : thread.state == analyze::State::runnable  ? totals.ready
			   : thread.state == analyze::State::throttled ? totals.throttled
								       : totals.blocked);
	}
	totals.switches = fold.count("sched_switch");
	totals.wakings = fold.count("sched_waking");
	totals.calls = fold.count("sys_enter");
	totals.faults = fold.count("page_fault_user") + fold.count("page_fault_kernel");
	totals.interrupts = fold.count("irq_handler_entry") + fold.count("local_timer_entry");
	totals.events = fold.count();
	totals.migrations = fold.count("sched_migrate_task");
	totals.minor_faults = fold.count("minor_fault");
	totals.major_faults = fold.count("major_fault");
	constexpr std::string_view entry = "_entry";
	for (const card::ClassRow &cls : card::kernel_classes()) {
		const std::string name = cls.name;
		if (cls.family == std::string_view("irq") && name.ends_with(entry) && fold.info().has_program(name))
			totals.interrupts_by_class[name.substr(0, name.size() - entry.size())] = fold.count(name);
	}
	return totals;
}

} // namespace monitor::live
