// SPDX-License-Identifier: MIT
// Resolves and tries the events of a formula, before counters are shared between measurements. `monitor events
// --groups` also shows the events of missing measurements.
#pragma once

#include <string>
#include <vector>

#include "events.h"
#include "formula.h"
#include "groups.h"
#include "selection.h"

namespace monitor::pmu {

struct ResolvedMeasurement {
	Measurement measurement;   // its terms' counters are indices into `events`
	std::vector<Event> events; // each once
	std::string unknown;       // the name of an event that this CPU does not have; "" if all are known
};

// Throws UnknownEvent, or Error if the formula makes no sense.
ResolvedMeasurement measure(const std::string &name, const Formula &formula, const Machine &machine);

// What a group measures here; a measurement with an unknown event is marked as missing.
std::vector<ResolvedMeasurement> measure_group(const Group &group, const Machine &machine);

bool is_same_counter(const perf_event_attr &a, const perf_event_attr &b);

} // namespace monitor::pmu
