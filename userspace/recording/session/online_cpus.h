// SPDX-License-Identifier: MIT
// Online CPUs, to tell an offline CPU from an idle one without events.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fd.h"

namespace monitor::record {

// By number; empty: not known.
std::vector<std::uint32_t> online_cpus();

// Finds recorded CPUs that go offline.
class OfflineCpus {
public:
	explicit OfflineCpus(std::uint32_t cpus);
	// `list`: the sysfs file of online CPUs.
	OfflineCpus(std::uint32_t cpus, const char *list);

	// CPUs that were offline at this poll and the previous one, each once until it is online again; all at the
	// first poll. One that was online in between has hotplug events.
	std::vector<std::uint32_t> poll();
	const std::vector<std::uint32_t> &at_start() const { return at_start_; }

private:
	Fd list_; // stays open: it is read several times a second
	std::vector<bool> was_offline_, reported_;
	bool is_first_ = true;
	std::vector<std::uint32_t> at_start_;
};

} // namespace monitor::record
