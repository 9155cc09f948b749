// SPDX-License-Identifier: MIT
// What `record --time` timed.
#pragma once

#include <string>
#include <vector>

#include "bins.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "table.h"

namespace monitor::report {

// A row for each time: number, number per second, mean, extremes, percentiles (the upper end of a bucket: at most an
// eighth too high), total.
Table times_table(const trace::Trace &trace, const analyze::RecordingInfo &info);
// One row for each CPU on which they ended: number and mean.
Table times_by_cpu(const trace::Trace &trace, const analyze::RecordingInfo &info);

// By powers of two, of each time.
std::vector<Bins> times_bins(const trace::Trace &trace, const analyze::RecordingInfo &info);

// Lines: what the names stand for, and what was not timed.
std::string times_notes(const analyze::RecordingInfo &info);
// An array; besides the columns, the histogram and what was not timed.
std::string times_json(const trace::Trace &trace, const analyze::RecordingInfo &info);

} // namespace monitor::report
