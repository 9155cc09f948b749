// SPDX-License-Identifier: MIT
// One perf event on each CPU, and the BPF program that runs when it occurs (perf_event_open(2)). Opened while the
// process has the privilege, and kept open; attached and detached without it. When a CPU goes offline its event ends;
// EventOpener opens another one when it comes back. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include "base/fd.h"
#include "bpf_link.h"

struct bpf_program;

namespace monitor::card {

class CpuEvents {
public:
	struct Event {
		unsigned cpu = 0;
		Fd fd;
		Link link;
		bool is_on = true;
	};

	// Opens the event on each online CPU, once. `what`: its name in errors. Throws Error.
	void open(const perf_event_attr &attributes, unsigned cpus, const std::string &what);
	bool empty() const { return events_.empty(); }
	const std::vector<Event> &events() const { return events_; }
	const perf_event_attr &attributes() const { return attributes_; }

	// Also enables them. Throws Error.
	void attach(bpf_program *program);
	void detach();
	void enable() const { all(PERF_EVENT_IOC_ENABLE); }
	void disable() const { all(PERF_EVENT_IOC_DISABLE); }
	// Enables or disables the event of this CPU, if there is one.
	void set_on(unsigned cpu, bool on);

	// The kernel's count since clear().
	std::uint64_t count() const;
	void clear();

	// Adds the event of a CPU that came online, opened with the same attributes, in place of its earlier one.
	// Attached if the others are. Throws Error.
	void add(unsigned cpu, Fd event);

private:
	void all(unsigned long request) const;

	perf_event_attr attributes_{};
	std::vector<Event> events_;
	bpf_program *program_ = nullptr;
	std::uint64_t replaced_ = 0; // count of replaced events
};

} // namespace monitor::card
