// SPDX-License-Identifier: MIT
// Page faults as software events of the kernel, one for each CPU and kind: their programs are probes, and the events'
// own counts are what the probes should have seen. Owned by BpfCard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace monitor::card {

// The kernel's own count of a software event, all CPUs.
struct FaultCount {
	std::string event;
	std::uint64_t count = 0;
};

class FaultEvents {
public:
	// Those of minor_fault or major_fault, one for each CPU that is online, with their counts at 0; valid until the
	// next call. Opened when first asked for, and kept open: the privilege is dropped when the recording starts.
	// Throws Error.
	std::vector<const Fd *> opened(const std::string &name, unsigned cpus);
	void enable() const;
	void disable() const;
	bool empty() const { return events_.empty(); }
	std::vector<FaultCount> counts() const;

private:
	struct Event {
		std::string name;
		Fd fd;
	};
	void open(const std::string &name, unsigned cpus);

	std::vector<Event> events_;
};

} // namespace monitor::card
