// SPDX-License-Identifier: MIT
// `monitor report DIR --virtual`: times as if nobody had measured. Called by cmd_report.cpp.
#pragma once

#include "answers/report/usage_report.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "report_arguments.h"

namespace monitor {

// Throws Error: what the probes cost is not known well enough.
void report_virtual(const ReportArguments &arguments, trace::Trace &trace, const analyze::RecordingInfo &info,
		    const report::GroupingOptions &grouping);

} // namespace monitor
