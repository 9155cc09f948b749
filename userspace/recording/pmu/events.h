// SPDX-License-Identifier: MIT
// Translates names of events as users know them to what perf_event_open accepts. Names are tried in this order: perf's
// generic names, rNNNN, PMU/terms/, libpfm4's names; all except libpfm4's accept the modifiers :u, :k and :h (libpfm4
// has the same ones). Invariant: a returned event without `missing` is encoded; why_not() tests whether the machine can
// count it.
#pragma once

#include <string>
#include <vector>

#include <linux/perf_event.h>

#include "base/error.h"
#include "machine.h"

namespace monitor::pmu {

struct Event {
	std::string name;             // as written
	perf_event_attr attributes{}; // type, config*, exclude_*
	std::string unit;             // of counts times `scale`: "ns", "Joules"
	double scale = 1;
	std::string pmu;     // the PMU: "cpu", "software", or another name
	std::string missing; // why it cannot even be encoded here: no PMU; "" otherwise
};

struct UnknownEvent : Error {
	using Error::Error;
};

// Throws UnknownEvent with the nearest known names, or Error if the name is recognised but wrong.
Event resolve(const std::string &name, const Machine &machine);

// Whether the word alone is an event, so that a following slash means division: "cycles/instructions".
bool is_event(const std::string &word);

// Why these events cannot be counted together here; "" if they can.
std::string why_not(const std::vector<Event> &events, const Machine &machine);

// Makes the event count the cycles in which it occurs, for busy(EVENT): counter mask 1. Clocks and cycles are left
// unchanged. Throws Error if that is not possible.
void make_busy(Event &event, const Machine &machine);

} // namespace monitor::pmu
