// SPDX-License-Identifier: MIT
// The CPUs that are online: an idle one may have no event for long, one that is offline has none.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fd.h"

namespace monitor::record {

// By number; empty: not known.
std::vector<std::uint32_t> online_cpus();

// Finds those that go offline: `cpus` that the recording has.
class OfflineCpus {
public:
	explicit OfflineCpus(std::uint32_t cpus);
	// `list`: the file that says which are online.
	OfflineCpus(std::uint32_t cpus, const char *list);

	// Those that were offline at the last look, too, and were not returned since they were online; at the first
	// look all: one that comes and goes in between has events that say it.
	std::vector<std::uint32_t> look();
	const std::vector<std::uint32_t> &at_start() const { return at_start_; }

private:
	Fd list_; // stays open: it is read several times a second
	std::vector<bool> was_, told_;
	bool is_first_ = true;
	std::vector<std::uint32_t> at_start_;
};

} // namespace monitor::record
