// SPDX-License-Identifier: MIT
#include "cpu_events.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::card {
namespace {

std::uint64_t count_of(const Fd &event)
{
	std::uint64_t value = 0;
	return ::read(event.get(), &value, sizeof value) == sizeof value ? value : 0;
}

} // namespace

void CpuEvents::open(const perf_event_attr &attributes, unsigned cpus, const std::string &what)
{
	if (!events_.empty())
		return;
	attributes_ = attributes;
	for (unsigned cpu = 0; cpu < cpus; ++cpu) {
		Fd fd(static_cast<int>(
		    ::syscall(SYS_perf_event_open, &attributes_, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
		if (!fd && errno == ENODEV)
			continue; // a possible CPU that is offline
		if (!fd)
			throw Error(errno, "cannot open " + what);
		events_.push_back({cpu, std::move(fd), {}});
	}
}

void CpuEvents::attach(bpf_program *program)
{
	program_ = program;
	for (Event &event : events_)
		event.link = link_to_event(program, event.fd);
}

void CpuEvents::detach()
{
	program_ = nullptr;
	for (Event &event : events_)
		event.link.reset();
}

void CpuEvents::set_on(unsigned cpu, bool on)
{
	const auto event = std::ranges::find(events_, cpu, &Event::cpu);
	if (event != events_.end() && std::exchange(event->is_on, on) != on)
		::ioctl(event->fd.get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

std::uint64_t CpuEvents::count() const
{
	std::uint64_t sum = replaced_;
	for (const Event &event : events_)
		sum += count_of(event.fd);
	return sum;
}

void CpuEvents::clear()
{
	replaced_ = 0;
	all(PERF_EVENT_IOC_RESET);
}

void CpuEvents::add(unsigned cpu, Fd event)
{
	const auto earlier = std::ranges::find(events_, cpu, &Event::cpu);
	if (earlier != events_.end()) {
		replaced_ += count_of(earlier->fd);
		events_.erase(earlier);
	}
	events_.push_back({cpu, std::move(event), {}});
	if (program_)
		events_.back().link = link_to_event(program_, events_.back().fd);
}

void CpuEvents::all(unsigned long request) const
{
	for (const Event &event : events_)
		::ioctl(event.fd.get(), request, 0);
}

} // namespace monitor::card
