// SPDX-License-Identifier: MIT
// What `record -m` and the options beside it ask for: which counters, when they are read, and what tokens hold of them.
// Made by tools/monitor/cmd_record.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "card/reset_events.h"
#include "pmu/selection.h"
#include "ratio_pairs.h"

namespace monitor::record {

struct Counting {
	pmu::Selection selection;
	RatioFormat format = RatioFormat::exact;
	std::uint64_t every_ns = 0;           // read them also at an interrupt if no switch came for so long
	std::vector<card::ResetEvent> resets; // read them there too, and begin a new segment
};

} // namespace monitor::record
