// SPDX-License-Identifier: MIT
// libpfm4: the events of this CPU by their vendor's names. LIBPFM_FORCE_PMU selects another CPU's events, which can
// then be encoded, but not counted. pfm.cpp is the only file that uses libpfm4's interface. Called from one thread
// only.
#pragma once

#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace monitor::pmu {

// The core PMUs that libpfm4 has events for here: "skl"; two on a hybrid CPU; none if it does not recognise the CPU.
std::vector<std::string> pfm_families();

struct PfmAnswer {
	bool is_known = false; // the event and all of its unit masks
	bool is_event = false; // at least the event
	perf_event_attr attributes{};
};
PfmAnswer pfm_encode(const std::string &name);

struct PfmEvent {
	std::string name; // as users write it: "MEM_LOAD_RETIRED:L1_MISS"
	std::string pmu;  // "skl"
	std::string what;
};
std::vector<PfmEvent> pfm_events();

} // namespace monitor::pmu
