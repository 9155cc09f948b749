// SPDX-License-Identifier: MIT
// All events that have a name here, for `monitor events --pmu`. Called by cmd_events.cpp.
#pragma once

#include <string>
#include <vector>

#include "events.h"

namespace monitor::pmu {

struct ListedEvent {
	std::string name; // as -m takes it
	std::string kind; // "hardware", "cache", "software", "raw", else the PMU: "msr", "skl"
	std::string what;
	perf_event_attr attributes{};
	bool is_encoded = false; // attributes are known
	bool is_tried = false;   // missing is known
	std::string missing;     // why it cannot be counted here
};

// Those whose name or description has `pattern` in it, in upper or lower case, with * and ? as in file names. An event
// that no list has, such as r4f2e or cycles:u, is found by its whole name. Beyond some hundred events of the CPU these
// are not tried one by one.
std::vector<ListedEvent> list_events(const std::string &pattern, const Machine &machine);

} // namespace monitor::pmu
