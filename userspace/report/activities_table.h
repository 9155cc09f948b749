// SPDX-License-Identifier: MIT
// Answers "what did the programs say they were doing, for how long, and did they run in that time": a row per activity
// from what UserActivityFold summed. Called by cmd_report.cpp.
#pragma once

#include <string>

#include "analyze/user_activities.h"
#include "table.h"

namespace monitor::report {

// Which shares of an activity's time the recording can determine.
struct KnownShares {
	bool cpu = true;     // switches were recorded
	bool waiting = true; // and wake-ups: what a thread that is not running waits for
};

KnownShares known_shares(const analyze::RecordingInfo &info);

// `counters`: null, or what was counted in the same time.
Table user_activities_table(const analyze::UserActivityFold &fold, const trace::Clock &clock, const KnownShares &known,
			    const analyze::CountersInfo *counters = nullptr);

// How an activity's counts were obtained.
std::string how_counted_text(const analyze::CountersInfo &counters, const Table &table);

// What is in no row, as lines below the table; empty if nothing.
std::string unpaired_text(const analyze::UserActivityFold &fold);
std::string unpaired_json(const analyze::UserActivityFold &fold);

} // namespace monitor::report
