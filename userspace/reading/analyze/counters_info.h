// SPDX-License-Identifier: MIT
// The counters of a recording (base/recording_file/counters.h), by number and within bounds: which there are, what is
// measured with them, and their values at the start and the end.
#pragma once

#include <string>
#include <vector>

#include "base/recording_file/counters.h"

namespace monitor::analyze {

using recording_file::CounterReading, recording_file::CounterTerm, recording_file::Measurement, recording_file::Per,
    recording_file::RatioInfo;

struct CounterInfo {
	std::string name, unit, field; // field: in the event class
	unsigned set = 0;
};

// Counters that are scheduled together: one event class for readings where all were counting all the time, one that
// also says how long they were.
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
	std::string user_refused;        // why there is none
	std::vector<std::string> resets; // by number: the events of --reset-on, then triggers
};

CountersInfo counters_info(const recording_file::RecordedCounters &recorded);

} // namespace monitor::analyze
