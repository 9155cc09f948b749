// SPDX-License-Identifier: MIT
// Which counters are scheduled together: a set is one group of perf_event_open(), as `group` here means a group of
// measurements (groups.h). Measurements are added one at a time.
// Invariants: the counters of a measurement are in one set; the hardware counters of a set are of one PMU; a set of
// software counters has no hardware counter unless a measurement needs both, so that it is counted without a pause.
#pragma once

#include <vector>

#include "measure.h"

namespace monitor::pmu {

class Sets {
public:
	Sets(Selection &selection, const Machine &machine) : selection_(selection), machine_(machine) {}

	// Assigns counters to the measurement, new ones or those of others, and appends it to the selection.
	void add(const ResolvedMeasurement &resolved);

private:
	std::size_t missing_from(std::size_t set, const std::vector<Event> &events) const;
	bool has_room(std::size_t set, const std::vector<Event> &events) const;
	std::size_t choose(const std::vector<Event> &events);
	std::size_t find_or_add(std::size_t set, const Event &event);

	Selection &selection_;
	const Machine &machine_;
	std::vector<std::string> pmus_; // of each set
};

} // namespace monitor::pmu
