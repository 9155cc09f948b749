// SPDX-License-Identifier: MIT
// Names of events as users know them -> what perf_event_open takes. Called by selection.cpp for every event of a
// formula, and by `monitor events`. In this order: perf's generic names, rNNNN, PMU/terms/, libpfm4's names; all but
// libpfm4's take the modifiers :u, :k and :h (its own are the same).
// Invariant: an event that is returned can be encoded; whether the machine can count it is `why_not`'s to say.
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
	std::string pmu;     // "cpu", "software", or the name of another PMU: who counts it
	std::string missing; // why it cannot even be encoded here: no PMU; "" otherwise
};

struct UnknownEvent : Error {
	using Error::Error;
};

// Throws UnknownEvent with the nearest known names, or Error if the name is understood and wrong.
Event resolve(const std::string &name, const Machine &machine);

// Whether it is an event by itself, so that a slash behind it divides: "cycles/instructions".
bool is_event(const std::string &word);

// Why these cannot be counted together here; "" if they can.
std::string why_not(const std::vector<Event> &events, const Machine &machine);

// Makes it count the cycles in which it occurs, for busy(EVENT): counter mask 1. Clocks and cycles are left as they
// are. Throws Error if there is no such thing.
void make_busy(Event &event, const Machine &machine);

} // namespace monitor::pmu
