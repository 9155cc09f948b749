// SPDX-License-Identifier: MIT
// The counters of record -m (`counters`): events, measurements, and values at the start and the end. See
// reading/analyze/counters_info.h for how readers use them.
#pragma once

#include "fields.h"

namespace monitor::recording_file {

struct RecordedCounter {
	std::string name, unit, field; // field: in the event class

	void fields(auto &v) { v("name", name, "unit", unit, "field", field); }
};

struct RecordedSet {
	unsigned id = 0, scaled_id = 0; // of the event classes
	std::vector<RecordedCounter> counters;

	void fields(auto &v) { v("id", id, "scaled_id", scaled_id, "counters", counters); }
};

struct CounterTerm {
	double factor = 1;
	std::uint64_t counter = 0; // in the order of the sets
	bool is_damaged = false;   // a member is not a number

	void fields(auto &v) { v.required("factor", factor, "counter", counter); }
};

// What a measurement is divided by.
enum class Per {
	counters,    // the denominator's terms
	time,        // time of the activity: ns for counters in ns, else ticks of the trace's clock
	seconds,     // time of the activity in seconds: a rate
	occurrences, // how often the activity occurred: average duration
	nothing,     // cumulative count
};
inline constexpr const char *words_of_per[] = {"counters", "time", "seconds", "occurrences", "nothing"};

struct Measurement {
	std::string name, unit, group, formula;
	std::vector<CounterTerm> numerator, denominator;
	Per per = Per::counters;
	std::string missing;              // why it was not measured; "" if it was
	std::optional<std::size_t> ratio; // for readers: recorded as this ratio, not as counts

	void fields(auto &v)
	{
		v("name", name, "unit", unit, "group", group, "formula", formula, "numerator", numerator, "denominator",
		  denominator);
		v.word("per", per, words_of_per);
		v("missing", missing);
	}
};

// A normalised ratio (monitor/ratio.h) in the tokens.
struct RatioInfo {
	std::optional<std::uint64_t> measurement; // by number
	std::string field;                        // in the event class
	bool inverse = false;                     // of the measurement

	void fields(auto &v) { v("measurement", measurement, "field", field, "inverse", inverse); }
};

struct CounterReading {
	std::uint64_t cpu = 0, set = 0;
	// Of the trace: no token after it predates the start's reading, none before it postdates the end's.
	std::uint64_t time = 0;
	std::uint64_t enabled_ns = 0, running_ns = 0;
	std::vector<std::uint64_t> values;

	void fields(auto &v)
	{
		v("cpu", cpu, "set", set, "time", time, "enabled_ns", enabled_ns, "running_ns", running_ns, "values",
		  values);
	}
};

struct RecordedCounters {
	unsigned user_id = 0; // the event class by which programs report the first set's counts at boundaries; 0: none
	std::string user_refused; // why there is none
	std::uint64_t every_ns = 0;
	std::vector<RecordedSet> sets;
	std::vector<Measurement> measurements;
	unsigned ratio_id = 0, ratio_bits = 0; // the event class; EDC_RATIO_BITS_*, 0: counts were recorded
	std::vector<RatioInfo> ratios;
	std::vector<std::string> notes, resets; // resets: by number: the events of --reset-on, then triggers
	AtBothEnds<std::vector<CounterReading>> readings;

	void fields(auto &v)
	{
		v("user_id", user_id, "user_refused", user_refused, "every_ns", every_ns, "sets", sets, "measurements",
		  measurements, "ratio_id", ratio_id, "ratio_bits", ratio_bits, "ratios", ratios, "notes", notes,
		  "resets", resets);
		v.if_set("readings", readings);
	}
};

} // namespace monitor::recording_file
