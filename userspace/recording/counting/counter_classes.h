// SPDX-License-Identifier: MIT
// The counters of `record -m` in a trace: two event classes for each set (include/monitor/card.h), and the member
// `counters` of recording.json, which defines them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "counters.h"
#include "counting.h"

namespace monitor::record {

struct CounterClass {
	unsigned id = 0;
	std::string name, kind;          // kind of each field
	std::string argument;            // the argument's field; "" if unused
	std::vector<std::string> labels; // of the argument's values 0, 1, ..., if these are indices
	std::vector<std::string> fields; // the payload
};

std::vector<CounterClass> counter_classes(const std::optional<Counting> &counting);

// Without the readings.
recording_file::RecordedCounters recorded_counters(const Counting &counting);

} // namespace monitor::record
