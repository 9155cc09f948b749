// SPDX-License-Identifier: MIT
#include "fault_events.h"

#include <algorithm>
#include <cerrno>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::card {

void FaultEvents::open(const std::string &name, unsigned cpus)
{
	perf_event_attr attributes{};
	attributes.size = sizeof attributes;
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = name == "major_fault" ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN;
	attributes.sample_period = 1;
	attributes.disabled = 1;
	for (unsigned cpu = 0; cpu < cpus; ++cpu) {
		Fd fd(static_cast<int>(
		    ::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
		if (!fd && errno == ENODEV)
			continue; // a possible CPU that is offline
		if (!fd)
			throw Error(errno, "cannot open the software event of page faults");
		events_.push_back({name, std::move(fd)});
	}
}

std::vector<const Fd *> FaultEvents::opened(const std::string &name, unsigned cpus)
{
	if (std::ranges::none_of(events_, [&](const Event &event) { return event.name == name; }))
		open(name, cpus);
	std::vector<const Fd *> of_name;
	for (const Event &event : events_) {
		if (event.name != name)
			continue;
		::ioctl(event.fd.get(), PERF_EVENT_IOC_RESET, 0);
		of_name.push_back(&event.fd);
	}
	return of_name;
}

void FaultEvents::enable() const
{
	for (const Event &event : events_)
		::ioctl(event.fd.get(), PERF_EVENT_IOC_ENABLE, 0);
}

void FaultEvents::disable() const
{
	for (const Event &event : events_)
		::ioctl(event.fd.get(), PERF_EVENT_IOC_DISABLE, 0);
}

std::vector<FaultCount> FaultEvents::counts() const
{
	std::vector<FaultCount> counts{{"minor_fault", 0}, {"major_fault", 0}};
	for (const Event &event : events_) {
		std::uint64_t value = 0;
		if (::read(event.fd.get(), &value, sizeof value) == sizeof value)
			counts[event.name == "major_fault"].count += value;
	}
	return counts;
}

} // namespace monitor::card
