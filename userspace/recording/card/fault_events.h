// SPDX-License-Identifier: MIT
// Page faults as software events of the kernel, one for each CPU and kind: their programs are probes, and the events'
// own counts are what the probes should have seen. Owned by BpfCard.
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

	// Runs the program for those of that name, and counts them from 0. Opened the first time: the privilege is
	// dropped when the recording starts. Throws Error.
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
