// SPDX-License-Identifier: MIT
// The kernel's software events for page faults, one per CPU and kind: probes are attached to them, and their own counts
// verify the probes'. Owned by BpfCard.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "cpu_events.h"

namespace monitor::card {

class FaultEvents {
public:
	static constexpr std::array names{"minor_fault", "major_fault"};

	// Attaches the program to the events of that name, and counts from 0. The first call opens them, since
	// privileges are dropped when the recording starts. Throws Error.
	void attach(bpf_program *program, const std::string &name, unsigned cpus);
	void detach();
	void enable() const;
	void disable() const;
	bool empty() const;
	std::map<std::string, std::uint64_t> counts() const; // the kernel's own, of all CPUs
	CpuEvents &of(const std::string &name) { return events_[name == names[1]]; }

private:
	std::array<CpuEvents, names.size()> events_;
};

} // namespace monitor::card
