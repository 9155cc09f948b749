// SPDX-License-Identifier: MIT
// perf's generic names: hardware, cache and software events, as `perf list` shows them. The kernel translates them to
// the CPU's own events, so they exist on any CPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace monitor::pmu {

struct GenericEvent {
	std::string name;
	std::uint32_t type = 0; // PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_SOFTWARE
	std::uint64_t config = 0;
	std::string unit; // "ns" for the clocks
	std::string what;
};

const std::vector<GenericEvent> &generic_events();

// Ignores case. Null if no event has this name.
const GenericEvent *generic_event(const std::string &name);

} // namespace monitor::pmu
