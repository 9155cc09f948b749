// SPDX-License-Identifier: MIT
// libpfm4: the events of the CPU at hand by their vendor's names. Called by events.cpp and machine.cpp.
// LIBPFM_FORCE_PMU chooses another CPU's events, which can then be encoded, not counted. The only file that knows
// libpfm4's interface is pfm.cpp. From one thread only.
#pragma once

#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace monitor::pmu {

// The core PMUs whose events libpfm4 knows here: "skl"; two on a hybrid CPU; none if it does not know the CPU.
std::vector<std::string> pfm_families();

struct PfmAnswer {
	bool is_known = false; // the event and all of its unit masks
	bool is_event = false; // at least the event
	perf_event_attr attributes{};
};
PfmAnswer pfm_encode(const std::string &name);

struct PfmEvent {
	std::string name; // as it is to be written: "MEM_LOAD_RETIRED:L1_MISS"
	std::string pmu;  // "skl"
	std::string what;
};
std::vector<PfmEvent> pfm_events();

} // namespace monitor::pmu
