// SPDX-License-Identifier: MIT
// What `record --count` counted: by count, by CPU, or in each interval of --every.
#pragma once

#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "table.h"

namespace monitor::report {

// Below the tables: for how long was counted, and what is in no count.
std::string counted_text(const analyze::RecordingInfo &info);

// count, count per second of the recording, expression
Table counts_table(const analyze::RecordingInfo &info);
// One row for each CPU, and one for the events of programs if there were any.
Table counts_by_cpu(const analyze::RecordingInfo &info);
// One row for each interval, with what was counted and timed in it, from the trace's `count` and `timed` tokens. Throws
// Error: there are none.
Table counts_by_time(trace::Trace &trace, const analyze::RecordingInfo &info);

} // namespace monitor::report
