// SPDX-License-Identifier: MIT
#include "fault_events.h"

#include <algorithm>

namespace monitor::card {

void FaultEvents::attach(bpf_program *program, const std::string &name, unsigned cpus)
{
	perf_event_attr attributes{};
	attributes.size = sizeof attributes;
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = name == names[1] ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN;
	attributes.sample_period = 1;
	attributes.disabled = 1;
	CpuEvents &events = of(name);
	events.open(attributes, cpus, "the software event of page faults");
	events.clear();
	events.attach(program);
}

void FaultEvents::detach()
{
	for (CpuEvents &events : events_)
		events.detach();
}

void FaultEvents::enable() const
{
	for (const CpuEvents &events : events_)
		events.enable();
}

void FaultEvents::disable() const
{
	for (const CpuEvents &events : events_)
		events.disable();
}

bool FaultEvents::empty() const
{
	return std::ranges::all_of(events_, &CpuEvents::empty);
}

std::map<std::string, std::uint64_t> FaultEvents::counts() const
{
	std::map<std::string, std::uint64_t> counts;
	for (std::size_t i = 0; i < names.size(); ++i)
		counts[names[i]] = events_[i].count();
	return counts;
}

} // namespace monitor::card
