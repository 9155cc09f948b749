// SPDX-License-Identifier: MIT
// The counters of a recording (base/recording_file/counters.h), numbered and bounds-checked: which there are, what is
// measured with them, and their values at the start and the end.
#pragma once

#include <string>
#include <vector>

#include "base/recording_file/counters.h"

namespace monitor::analyze {

using recording_file::CounterReading, recording_file::CounterTerm, recording_file::Measurement, recording_file::Per,
    recording_file::RatioInfo;

struct CounterInfo {
	std::string name, unit, field; // field: its name in the event class
	unsigned set = 0;
};

// Counters that are scheduled together. One event class is for readings in which all counted all the time; the other
// also has how long they did.
struct CounterSetInfo {
	unsigned id = 0, scaled_id = 0;
	std::size_t first = 0, count = 0; // in CountersInfo::counters
};

struct CountersInfo {
	std::vector<CounterInfo> counters;
	std::vector<CounterSetInfo> sets;
	std::vector<Measurement> measurements;
	unsigned ratio_bits = 0, ratio_id = 0; // EDC_RATIO_BITS_*, 0: counts were recorded; the event class
	std::vector<RatioInfo> ratios;
	std::vector<CounterReading> start, end;
	unsigned user_id = 0; // the event class by which programs report the first set's counts at boundaries; 0: none
	std::string user_refused;        // why there is no such class
	std::vector<std::string> resets; // by number: the events of --reset-on, then the triggers
};

CountersInfo counters_info(const recording_file::RecordedCounters &recorded);

} // namespace monitor::analyze
