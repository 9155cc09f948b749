// SPDX-License-Identifier: MIT
// How the counters of `record -m` are represented in a trace: two event classes for each set (include/monitor/card.h),
// and the member `counters` of recording.json, which defines them. Used by metadata.cpp and recording_file.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "counters.h"
#include "counting.h"

namespace monitor::record {

struct CounterClass {
	unsigned id = 0;
	std::string name, kind;          // kind of each field
	std::string argument;            // the argument's field; "" if it means nothing
	std::vector<std::string> labels; // of the argument's values 0, 1, ..., if these are indices
	std::vector<std::string> fields; // the payload
};

std::vector<CounterClass> counter_classes(const std::optional<Counting> &counting);

// Without the readings.
nlohmann::ordered_json counters_json(const Counting &counting);
nlohmann::ordered_json readings_json(const std::vector<CounterReading> &readings);

} // namespace monitor::record
