// SPDX-License-Identifier: MIT
// The answer to "what did the programs say that they were doing, for how long, and did they run meanwhile": a row per
// activity from what RegionFold summed. Called by cmd_report.cpp.
#pragma once

#include <string>

#include "analyze/regions.h"
#include "table.h"

namespace monitor::report {

// Which shares of an activity's time the recording can tell.
struct KnownShares {
	bool cpu = true;     // switches were recorded
	bool waiting = true; // and wake-ups: what a thread that does not run waits for
};

KnownShares known_shares(const analyze::RecordingInfo &info);

// `counters`: null, or what was counted meanwhile.
Table regions_table(const analyze::RegionFold &fold, const trace::Clock &clock, const KnownShares &known,
		    const analyze::CountersInfo *counters = nullptr);

// How an activity's counts came about.
std::string how_counted_text(const analyze::CountersInfo &counters, const Table &table);

// What is in no row, as lines under the table; empty if nothing.
std::string unpaired_text(const analyze::RegionFold &fold);
std::string unpaired_json(const analyze::RegionFold &fold);

} // namespace monitor::report
