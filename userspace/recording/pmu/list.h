// SPDX-License-Identifier: MIT
// All events that have a name on this machine, for `monitor events --pmu`.
#pragma once

#include <string>
#include <vector>

#include "events.h"

namespace monitor::pmu {

struct ListedEvent {
	std::string name; // as -m accepts it
	std::string kind; // "hardware", "cache", "software", "raw", else the PMU: "msr", "skl"
	std::string what;
	perf_event_attr attributes{};
	bool is_encoded = false; // attributes are known
	bool is_tried = false;   // missing is known
	std::string missing;     // why it cannot be counted here
};

// Events whose name or description contains `pattern`, in upper or lower case, with * and ? as in file names. An event
// that is in no list, such as r4f2e or cycles:u, is found by its whole name. If more than some hundred events are
// found, the CPU's events among them are not tried one by one.
std::vector<ListedEvent> list_events(const std::string &pattern, const Machine &machine);

} // namespace monitor::pmu
