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
	std::uint64_t every_ns = 0;              // also read them at an interrupt if no switch occurred for this long
	std::vector<card::ResetEvent> resets;    // also read them there, and start a new segment
	std::vector<std::string> reset_triggers; // their names: they start one, too
	UserReads user_reads;                    // determined once: the description must not change during a recording

	// What starts a new segment, by number.
	std::vector<std::string> reset_names() const
	{
		std::vector<std::string> names;
		for (const card::ResetEvent &event : resets)
			names.push_back(event.name);
		names.insert(names.end(), reset_triggers.begin(), reset_triggers.end());
		return names;
	}
};

} // namespace monitor::record
