// SPDX-License-Identifier: MIT
// The results of `record --count`: by count, by CPU, or per interval of --every.
#pragma once

#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "table.h"

namespace monitor::report {

// Below the tables: the duration of counting, and what is in no count.
std::string counted_text(const analyze::RecordingInfo &info);

// Columns: count, count per second of the recording, expression.
Table counts_table(const analyze::RecordingInfo &info);
// A row per CPU, and one for the events of programs if there were any.
Table counts_by_cpu(const analyze::RecordingInfo &info);
// A row per interval, with the counts and times in it, from the trace's `count` and `timed` tokens. Throws Error: there
// are none.
Table counts_by_time(trace::Trace &trace, const analyze::RecordingInfo &info);

} // namespace monitor::report
