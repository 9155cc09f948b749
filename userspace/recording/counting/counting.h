// SPDX-License-Identifier: MIT
// Options of `record -m`: which counters, when they are read, and the format in tokens. Filled by
// tools/monitor/record_commands/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ranges.h"
#include "monitor/user_ring.h"
#include "ratio_pairs.h"
#include "recording/card/reset_events.h"
#include "recording/pmu/selection.h"

namespace monitor::record {

// Counters that instrumented programs read themselves.
struct UserReads {
	std::vector<edc_user_counter> counters;
	std::string refused; // why there are none
};

struct Counting {
	pmu::Selection selection;
	RatioFormat format = RatioFormat::exact;
	std::uint64_t every_ns = 0;              // also read them at an interrupt if no switch occurred for this long
	std::vector<card::ResetEvent> resets;    // events that read counters and start a new segment
	std::vector<std::string> reset_triggers; // names of triggers that start a segment, too
	UserReads user_reads;                    // determined once: the description must not change during a recording

	// The starts of segments, by number.
	std::vector<std::string> reset_names() const
	{
		auto names = list_of<std::string>(resets, &card::ResetEvent::name);
		names.insert(names.end(), reset_triggers.begin(), reset_triggers.end());
		return names;
	}
};

} // namespace monitor::record
