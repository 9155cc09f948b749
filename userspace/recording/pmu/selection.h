// SPDX-License-Identifier: MIT
// What `record -m` selects: the counters to open and the measurements derived from them. Built here from names
// (events.h) and groups (groups.h); opened by userspace/recording/counting/counters.cpp; written into recording.json
// for the reports. Invariant: a measurement without `missing` has counters that this machine can open; one with it has
// none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include "base/recording_file/counters.h"

namespace monitor::pmu {

struct Counter {
	std::string name;             // as the user or the group wrote it: "cycles", "LLC-load-misses"
	std::string unit;             // of its counts: "ns" for the clocks, else ""
	perf_event_attr attributes{}; // type, config*, exclude_*; the opener decides how it is read
};

struct Term {
	double factor = 1;
	std::size_t counter = 0; // in Selection::counters
};

using recording_file::Per;

struct Measurement {
	std::string name;  // "IPC", "LLC miss"
	std::string unit;  // "%": shown times 100; "B/s", "ns", "", ...
	std::string group; // "" if the user wrote the formula
	std::vector<Term> numerator, denominator;
	Per per = Per::counters;
	bool may_exceed_one = false; // a ratio that is stored inverse in small formats: IPC, average duration
	std::string formula;         // as written, for display: "instructions / cycles"
	std::string missing;         // why this machine does not have the measurement; "" if it has it
};

struct Selection {
	std::vector<Counter> counters;              // each once, unless it is needed in more than one set
	std::vector<Measurement> measurements;      // in the order of the requests and of the groups' lines
	std::vector<std::vector<std::size_t>> sets; // scheduled together, at most max_in_set; a counter is in one set
	std::vector<std::string> notes;             // one line each, for the user: what was replaced by what, and why
};

inline constexpr std::size_t max_in_set = 5; // a token of 7 words: enabled, running, and these
inline constexpr std::size_t max_sets = 8;

// `requests`: the items of -m, split at commas: a group ("cpu"), or "NAME=FORMULA". Throws Error, which names what is
// unknown and the nearest known names. Without a PMU on this machine, groups of hardware events are returned as
// missing, and the group "software" is added with a note.
Selection select(const std::vector<std::string> &requests);

struct Machine;
Selection select(const std::vector<std::string> &requests, const Machine &machine);

} // namespace monitor::pmu
