// SPDX-License-Identifier: MIT
// Answers "how long did it take": the table of system calls, blocked times, and activities that programs mark, summed
// by Totals (reading/activities/totals.h).
#pragma once

#include <string>
#include <vector>

#include "reading/activities/patched_functions.h"
#include "reading/activities/totals.h"
#include "table.h"

namespace monitor::report {

// Which parts of an activity's time the recording determines.
struct KnownShares {
	bool cpu = true;     // switches were recorded
	bool waiting = true; // and wake-ups: blocked or waiting for a CPU
};

KnownShares known_shares(const analyze::RecordingInfo &info);

// Why the recording lacks system calls (`of_calls`), or the calls in which threads slept; "" if it has them.
std::string why_no_states(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds, bool of_calls);

// `rows`: from `totals`. `counters`: null, or the counts in the same time.
Table activities_table(const activities::Totals &totals, const std::vector<activities::TotalsRow> &rows,
		       const trace::Clock &clock, const KnownShares &known,
		       const analyze::CountersInfo *counters = nullptr);

// How the counts of activities were obtained.
std::string how_counted_text(const analyze::CountersInfo &counters, const Table &table);

// What is in no row, as lines below the table; "": nothing.
std::string unpaired_text(const activities::Totals &totals);
std::string unpaired_json(const activities::Totals &totals);

// The cost of recording a function's call, which is part of its own time and its callers'; empty if unknown.
std::string call_cost_text(const analyze::RecordingInfo &info);

// The functions that record --budget left out; empty if none.
std::string left_out_text(const analyze::RecordingInfo &info, const trace::Clock &clock);
std::string left_out_json(const analyze::RecordingInfo &info, const trace::Clock &clock);

// For functions that programs patch in themselves: those that none patched, and the cost of their events.
std::string patched_functions_text(const activities::PatchedFunctions &patched_functions,
				   const analyze::RecordingInfo &info);
std::string patched_functions_json(const activities::PatchedFunctions &patched_functions,
				   const analyze::RecordingInfo &info);

} // namespace monitor::report
