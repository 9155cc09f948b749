// SPDX-License-Identifier: MIT
// The results of `record --time`.
#pragma once

#include <string>
#include <vector>

#include "bins.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "table.h"

namespace monitor::report {

// A row per time: number, number per second, mean, extremes, percentiles (the upper end of a bucket: at most an eighth
// too high), total.
Table times_table(const trace::Trace &trace, const analyze::RecordingInfo &info);
// A row per CPU on which they ended: number and mean.
Table times_by_cpu(const trace::Trace &trace, const analyze::RecordingInfo &info);

// By powers of two, for each time.
std::vector<Bins> times_bins(const trace::Trace &trace, const analyze::RecordingInfo &info);

// Lines: the definitions, and what was not timed.
std::string times_notes(const analyze::RecordingInfo &info);
// An array with the columns, the histogram and what was not timed.
std::string times_json(const trace::Trace &trace, const analyze::RecordingInfo &info);

} // namespace monitor::report
