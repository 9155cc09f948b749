// SPDX-License-Identifier: MIT
#include "fold_settings.h"

#include <string>
#include <utility>

namespace monitor::analyze {
namespace {

constexpr std::uint64_t max_exec_ns = 1'000'000'000; // an exec reads a file

std::uint64_t calibrated_ticks(const RecordingInfo &info, const trace::Clock &clock, const char *name)
{
	const auto cost = info.cost_ns.find(name);
	const double ns = cost == info.cost_ns.end() ? 0 : cost->second;
	return ns > 0 && ns < 1e9 ? clock.to_ticks(static_cast<std::uint64_t>(ns)) : 0;
}

} // namespace

FoldSettings settings_of(const FoldInput &input, const RecordingInfo &info, const EventKinds &kinds, Scope scope)
{
	FoldSettings made{std::move(scope)};
	made.command_pid = info.command_pid;
	made.is_filtering = info.filtering();
	made.is_complete = info.complete();
	made.has_coinciding_gaps = info.has_only_phases();
	if (info.present) {
		made.is_snapshot = info.flight.has_value();
		made.has_wakings = info.has_program("sched_waking");
		made.throttles_groups = info.throttles_groups();
		made.has_interrupts = info.has_program("irq_handler_entry") && info.has_program("softirq_entry");
		made.brackets_calls = info.has_program("sys_enter") && info.has_program("sys_exit");
		made.brackets_user =
		    made.brackets_calls && info.has_program("page_fault_user") && info.has_program("minor_fault");
		made.has_exec_events = info.has_program("sched_process_exec");
	}
	if (input.is_generic_ctf) {
		const std::string *tracer = input.description.find_env("tracer_name");
		made.has_untimed = input.window.from == 0 && tracer && *tracer == "perf";
		made.has_interrupts = kinds.has(EventMeaning::interrupt_entry);
		made.has_cpu_timers = false;
		made.brackets_calls = kinds.has_calls();
		made.brackets_user = made.brackets_calls && kinds.has(EventMeaning::page_fault_user) &&
				     kinds.has(EventMeaning::minor_fault);
	}
	made.brackets_all = made.brackets_user && made.has_interrupts && input.partial.empty();
	made.finds_runners = made.brackets_calls && kinds.has(EventMeaning::thread_runs);
	const trace::Clock &clock = input.description.clock;
	made.call_edge = calibrated_ticks(info, clock, "call_edge");
	made.fault_edge = calibrated_ticks(info, clock, "fault_edge");
	made.max_exec = clock.to_ticks(max_exec_ns);
	return made;
}

} // namespace monitor::analyze
