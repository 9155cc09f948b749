// SPDX-License-Identifier: MIT
// What `record -m` and the options beside it ask for: which counters, when they are read, and what tokens hold of them.
// Made by tools/monitor/cmd_record.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "card/reset_events.h"
#include "monitor/user_ring.h"
#include "pmu/selection.h"
#include "ratio_pairs.h"

namespace monitor::record {

// What instrumented programs are to read themselves.
struct UserReads {
	std::vector<edc_user_counter> counters;
	std::string refused; // why there are none
};

struct Counting {
	pmu::Selection selection;
	RatioFormat format = RatioFormat::exact;
	std::uint64_t every_ns = 0;           // read them also at an interrupt if no switch came for so long
	std::vector<card::ResetEvent> resets; // read them there too, and begin a new segment
	UserReads user_reads;                 // found once: the description must not change during a recording
};

} // namespace monitor::record
