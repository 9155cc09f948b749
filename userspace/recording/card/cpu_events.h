// SPDX-License-Identifier: MIT
// One perf event on each CPU, and the BPF program that runs when it occurs (perf_event_open(2)). Opened while the
// process has the privilege, and kept open; attached and detached without it. When a CPU goes offline its event ends,
// and none is opened when it comes back: see EventOpener. One thread.
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

	// On each CPU that is online; does nothing if it was opened before. `what` is opened, in errors. Throws Error.
	void open(const perf_event_attr &attributes, unsigned cpus, const std::string &what);
	bool empty() const { return events_.empty(); }
	const std::vector<Event> &events() const { return events_; }
	const perf_event_attr &attributes() const { return attributes_; }

	// Also enables them. Throws Error.
	void attach(bpf_program *program);
	void detach();
	void enable() const { all(PERF_EVENT_IOC_ENABLE); }
	void disable() const { all(PERF_EVENT_IOC_DISABLE); }
	// That of this CPU, if it has one.
	void set_on(unsigned cpu, bool on);

	// How often they occurred since clear(), by the kernel.
	std::uint64_t count() const;
	void clear();

	// One of these attributes, opened for a CPU that came online, in the place of its earlier one. It is attached
	// if the others are. Throws Error.
	void add(unsigned cpu, Fd event);

private:
	void all(unsigned long request) const;

	perf_event_attr attributes_{};
	std::vector<Event> events_;
	bpf_program *program_ = nullptr;
	std::uint64_t replaced_ = 0; // count of those
};

} // namespace monitor::card
