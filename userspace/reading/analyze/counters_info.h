// SPDX-License-Identifier: MIT
// The counters of a recording (member `counters` of recording.json): which there are, what is measured with them, and
// their values at the start and the end. Untrusted, as recording_info.h says. Used by counter_fold.cpp and the reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace monitor::analyze {

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

struct CounterTerm {
	double factor = 1;
	std::size_t counter = 0;
};

enum class Per { counters, time, seconds, occurrences, nothing };

struct Measurement {
	std::string name, unit, group, formula;
	std::vector<CounterTerm> numerator, denominator;
	Per per = Per::counters;
	std::string missing;              // why it was not measured; "" if it was
	std::optional<std::size_t> ratio; // in CountersInfo::ratios: recorded as a ratio, not as counts
};

// A normalised ratio (monitor/ratio.h) in the tokens.
struct RatioInfo {
	std::string field;    // in the event class
	bool inverse = false; // of the measurement
};

struct CounterReading {
	std::uint64_t cpu = 0, set = 0, time = 0, enabled_ns = 0, running_ns = 0;
	std::vector<std::uint64_t> values;
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

// Empty if there is no such member.
std::optional<CountersInfo> counters_info(const nlohmann::json &json);

} // namespace monitor::analyze
