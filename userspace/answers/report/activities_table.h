// SPDX-License-Identifier: MIT
// Answers "how long did it take": system calls, blocked times, and what the programs say they were doing. A table from
// what Totals (reading/activities/totals.h) summed.
#pragma once

#include <string>
#include <vector>

#include "reading/activities/patched_functions.h"
#include "reading/activities/totals.h"
#include "table.h"

namespace monitor::report {

// Which shares of a program's activity the recording can determine.
struct KnownShares {
	bool cpu = true;     // switches were recorded
	bool waiting = true; // and wake-ups: what a thread that is not running waits for
};

KnownShares known_shares(const analyze::RecordingInfo &info);

// Why the recording does not show system calls (`of_calls`), or what threads slept in; "" if it does.
std::string why_no_states(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds, bool of_calls);

// `rows`: of `totals`. `counters`: null, or what was counted in the same time.
Table activities_table(const activities::Totals &totals, const std::vector<activities::TotalsRow> &rows,
		       const trace::Clock &clock, const KnownShares &known,
		       const analyze::CountersInfo *counters = nullptr);

// How an activity's counts were obtained.
std::string how_counted_text(const analyze::CountersInfo &counters, const Table &table);

// What is in no row, as lines below the table; empty if nothing.
std::string unpaired_text(const activities::Totals &totals);
std::string unpaired_json(const activities::Totals &totals);

// What a call of a recorded function takes longer, as its own time and that of its callers contain; empty if unknown.
std::string call_cost_text(const analyze::RecordingInfo &info);

// The functions that record --budget left out; empty if none.
std::string left_out_text(const analyze::RecordingInfo &info, const trace::Clock &clock);
std::string left_out_json(const analyze::RecordingInfo &info, const trace::Clock &clock);

// Of functions that programs patch in themselves: those that none did, and what their events cost.
std::string patched_functions_text(const activities::PatchedFunctions &patched_functions,
				   const analyze::RecordingInfo &info);
std::string patched_functions_json(const activities::PatchedFunctions &patched_functions,
				   const analyze::RecordingInfo &info);

} // namespace monitor::report
