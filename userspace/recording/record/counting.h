// SPDX-License-Identifier: MIT
// What `record -m` and the related options request: which counters, when they are read, and what tokens hold of them.
// Filled by tools/monitor/cmd_record.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "monitor/user_ring.h"
#include "ratio_pairs.h"
#include "recording/card/reset_events.h"
#include "recording/pmu/selection.h"

namespace monitor::record {

// What instrumented programs should read themselves.
struct UserReads {
	std::vector<edc_user_counter> counters;
	std::string refused; // why there are none
};

struct Counting {
	pmu::Selection selection;
	RatioFormat format = RatioFormat::exact;
	std::uint64_t every_ns = 0;           // also read them at an interrupt if no switch occurred for this long
	std::vector<card::ResetEvent> resets; // also read them there, and start a new segment
	UserReads user_reads;                 // determined once: the description must not change during a recording
};

} // namespace monitor::record
