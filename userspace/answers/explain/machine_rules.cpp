// SPDX-License-Identifier: MIT
#include "machine_rules.h"

#include <utility>

#include <fmt/format.h>

#include "answers/report/table.h"

namespace monitor::explain {

void MachineRules::storm()
{
	const Storm &storm = evidence_.storm;
	if (static_cast<double>(storm.creations) < thresholds_.process_storm_least ||
	    storm.creations_per_second < thresholds_.process_storm_creations ||
	    !claims(storm.share_of_cpu, thresholds_.process_storm_cpu))
		return;
	const std::string number = report::count_text(static_cast<std::uint64_t>(storm.creations_per_second));
	const std::string started =
	    evidence_.path ? fmt::format("{} started {} processes and threads a second", evidence_.subject, number)
			   : fmt::format("{} processes and threads a second were started", number);
	add("process_storm", storm.share,
	    fmt::format("{}; those that lived under {:.0f} ms used {} of {} CPU time.", started,
			thresholds_.process_storm_life_ms, percent(storm.share_of_cpu), evidence_.path ? "its" : "the"),
	    {{"per_second", storm.creations_per_second}, {"share_of_cpu", storm.share_of_cpu}},
	    report({"--by", "command"}));
}

void MachineRules::call_edges()
{
	for (const Use &use : evidence_.machine.users) {
		if (!is_recorded("call_edges") || use.cpus < thresholds_.call_edges_user || !use.call_edges ||
		    !claims(*use.call_edges, thresholds_.call_edges))
			continue;
		add("call_edges", *use.call_edges * (evidence_.path ? use.cpus : use.cpus / evidence_.cpus),
		    fmt::format("{} spends {} of its CPU time on entering and leaving system calls, {} of them in a "
				"second of CPU time.",
				use.label, percent(*use.call_edges),
				report::count_text(static_cast<std::uint64_t>(use.calls_per_second))),
		    {{"process", use.label}, {"share_of_cpu", *use.call_edges}, {"per_second", use.calls_per_second}},
		    report({"syscalls", "--sort", "count"}));
	}
}

// Without a path.
void MachineRules::users()
{
	const Machine &machine = evidence_.machine;
	for (const Use &use : machine.users)
		if (claims(use.cpus, thresholds_.machine_user))
			add("user", use.cpus / evidence_.cpus,
			    fmt::format("{} used {:.2f} of {} CPUs.", use.label, use.cpus, evidence_.cpus),
			    {{"process", use.label}, {"cpus", use.cpus}}, report({"--by", "process"}));
	for (const auto &[group, share] : machine.throttled)
		if (claims(share, thresholds_.path))
			add("throttled", share,
			    fmt::format("A CPU quota kept a thread of {} from running for {} of the time.", group,
					percent(share)),
			    {{"cgroup", group}}, report({"--by", "cgroup"}));
	if (machine.saturated && claims(*machine.saturated, thresholds_.machine_saturated))
		add("waiting_others", *machine.saturated,
		    fmt::format(
			"For {} of the time all {} CPUs were busy and threads waited for one, {:.1f} on average.",
			percent(*machine.saturated), evidence_.cpus, machine.ready),
		    {{"ready", machine.ready}, {"busy", machine.busy}}, command("stat", {"--table", "runqueue"}));
}

void MachineRules::balance()
{
	const Machine &machine = evidence_.machine;
	double total = 0;
	std::size_t known = 0;
	for (const auto &share : machine.irqs) {
		total += share.value_or(0);
		known += share.has_value();
	}
	for (std::size_t cpu = 0; cpu < machine.irqs.size(); ++cpu) {
		if (!machine.irqs[cpu] || known < 2)
			continue;
		const double share = *machine.irqs[cpu];
		const double mean = (total - share) / static_cast<double>(known - 1);
		if (is_recorded("irq_imbalance") && claims(share, thresholds_.irq_imbalance) &&
		    share >= thresholds_.irq_imbalance_ratio * mean)
			add("irq_imbalance", share,
			    fmt::format("CPU {} spent {} of its time in interrupts and softirqs, the others {}.", cpu,
					percent(share), percent(mean)),
			    {{"cpu", cpu}, {"others", mean}}, report({"--by", "cpu"}));
	}
	if (machine.steal && *machine.steal - machine.steal_resolution >= thresholds_.steal) {
		add("steal", *machine.steal,
		    fmt::format("The hypervisor took at least {} of this machine's CPU time.",
				percent(*machine.steal - machine.steal_resolution)),
		    {{"grain", machine.steal_resolution}}, report({"--by", "cpu"}));
		found_.back().bound = machine.steal_resolution;
	}
}

std::vector<Finding> MachineRules::of_processes()
{
	if (!evidence_.path)
		users();
	storm();
	call_edges();
	return std::exchange(found_, {});
}

std::vector<Finding> MachineRules::of_cpus()
{
	balance();
	return std::exchange(found_, {});
}

} // namespace monitor::explain
