// SPDX-License-Identifier: MIT
#include "machine_evidence.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::explain {
namespace {

using analyze::Mode;

constexpr double second_ns = 1e9;
// Resolution of the counter in /proc/stat, per CPU.
constexpr double steal_resolution_ns = 1e7;

} // namespace

unsigned MachineReader::cpus() const
{
	const auto was_online = [&](const analyze::Cpu &cpu) {
		return static_cast<double>(cpu.offline) < window() && cpu.accounted > 0;
	};
	return static_cast<unsigned>(std::ranges::count_if(fold_.cpus(), was_online));
}

double MachineReader::unknown() const
{
	double unknown = 0;
	for (const analyze::Cpu &cpu : fold_.cpus())
		unknown += static_cast<double>(cpu.usage[Mode::unknown]);
	const double all = window() * cpus();
	return all > 0 ? unknown / all : 0;
}

std::vector<Use> MachineReader::users(const std::function<bool(const analyze::Thread &)> &is_wanted) const
{
	struct Sums {
		std::uint64_t cpu = 0, calls = 0, faults = 0;
		const analyze::Thread *leader = nullptr;
	};
	std::map<std::int32_t, Sums> processes;
	for (const analyze::Thread &thread : fold_.threads()) {
		if (thread.tid == 0 || thread.tgid == info_.recorder.pid || !is_wanted(thread))
			continue;
		Sums &sums = processes[thread.tgid];
		sums.cpu += thread.usage.cpu();
		sums.calls += thread.usage.syscalls;
		sums.faults += thread.usage.minor_faults + thread.usage.major_faults;
		sums.leader = &fold_.leader(thread);
	}
	// An edge is the way into and out of a call. As calibrated it contains one probe: half of the probe at the
	// entry, and half of the one at the exit.
	const auto cost = [&](const char *what) {
		const auto found = info_.cost_ns.find(what);
		return found == info_.cost_ns.end() ? 0.0 : found->second;
	};
	const double edge_ns = std::max(cost("call_edge") - cost("syscall"), 0.0);
	std::vector<Use> users;
	for (const auto &[tgid, sums] : processes) {
		const auto cpu_ns = static_cast<double>(clock_.to_ns(sums.cpu));
		if (cpu_ns <= 0)
			continue;
		const auto calls = static_cast<double>(sums.calls), faults = static_cast<double>(sums.faults);
		Use use;
		use.label = fmt::format("{}-{}", sums.leader->label(), tgid);
		use.tgid = tgid;
		use.cpus = static_cast<double>(sums.cpu) / window();
		use.calls_per_second = calls * second_ns / cpu_ns;
		if (edge_ns > 0)
			use.call_edges = std::min(calls * edge_ns / cpu_ns, 1.0);
		use.edges = std::min((calls * cost("call_edge") + faults * cost("fault_edge")) / cpu_ns, 1.0);
		users.push_back(std::move(use));
	}
	std::ranges::stable_sort(users, std::greater<>(), &Use::cpus);
	return users;
}

std::vector<std::pair<std::string, double>>
MachineReader::throttled(const std::map<std::uint64_t, std::string> &paths) const
{
	std::map<std::uint64_t, std::uint64_t> longest;
	for (const analyze::Thread &thread : fold_.threads())
		if (thread.usage.throttled) {
			std::uint64_t &ticks = longest[fold_.cgroup_of(thread)];
			ticks = std::max(ticks, thread.usage.throttled);
		}
	std::vector<std::pair<std::string, double>> groups;
	for (const auto &[id, ticks] : longest) {
		const auto path = paths.find(id);
		groups.emplace_back(path == paths.end() ? fmt::format("cgroup {}", id) : path->second,
				    static_cast<double>(ticks) / window());
	}
	return groups;
}

// Known only for the whole recording. At the start each counter may lag by a tick of 10 ms.
std::optional<double> MachineReader::steal(double &resolution) const
{
	const auto &start = info_.kernel_counts.start, &end = info_.kernel_counts.end;
	if (!fold_.is_whole() || !start || !end || start->steal_ns.empty() ||
	    start->steal_ns.size() != end->steal_ns.size() || end->before <= start->after)
		return std::nullopt;
	double stolen = 0;
	for (std::size_t cpu = 0; cpu < start->steal_ns.size(); ++cpu)
		stolen += static_cast<double>(end->steal_ns[cpu] - std::min(end->steal_ns[cpu], start->steal_ns[cpu]));
	const double cpus = std::max(this->cpus(), 1u);
	const double all = static_cast<double>(clock_.to_ns(end->before - start->after)) * cpus;
	resolution = steal_resolution_ns * cpus / all;
	return stolen / all;
}

Machine MachineReader::read(const analyze::Recorded &recorded,
			    const std::function<bool(const analyze::Thread &)> &is_wanted) const
{
	Machine machine;
	machine.users = users(is_wanted);
	for (const analyze::Cpu &cpu : fold_.cpus()) {
		machine.busy += static_cast<double>(cpu.usage.cpu()) / window();
		const bool is_known = recorded.interrupts && recorded.softirqs && !info_.filtering() &&
				      static_cast<double>(cpu.offline) < window();
		machine.irqs.push_back(
		    is_known
			? std::optional(static_cast<double>(cpu.usage[Mode::irq] + cpu.usage[Mode::softirq]) / window())
			: std::nullopt);
	}
	machine.steal = steal(machine.steal_resolution);
	return machine;
}

Storm MachineReader::storm(const std::function<bool(const analyze::Thread &)> &is_wanted, trace::TimeRange range,
			   double short_life_ms) const
{
	const std::uint64_t elapsed = range.to - range.from;
	const std::uint64_t max_life = clock_.to_ticks(static_cast<std::uint64_t>(short_life_ms * 1e6));
	std::uint64_t creations = 0, cpu = 0, short_lived_cpu = 0;
	for (const analyze::Thread &thread : fold_.threads()) {
		if (thread.tid == 0 || !is_wanted(thread))
			continue;
		cpu += thread.usage.cpu();
		if (thread.born < std::max<std::uint64_t>(range.from, 1) || thread.born > range.to)
			continue;
		++creations;
		const bool is_short = thread.state == analyze::State::dead && thread.out_time - thread.born < max_life;
		short_lived_cpu += is_short ? thread.usage.cpu() : 0;
	}
	const auto elapsed_ns = static_cast<double>(clock_.to_ns(elapsed));
	if (elapsed_ns <= 0 || cpu == 0)
		return {};
	return {static_cast<double>(creations) * second_ns / elapsed_ns,
		static_cast<double>(short_lived_cpu) / static_cast<double>(cpu),
		static_cast<double>(short_lived_cpu) / static_cast<double>(elapsed), creations};
}

} // namespace monitor::explain
