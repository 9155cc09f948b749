// SPDX-License-Identifier: MIT
// `monitor report DIR counts`. Used by cmd_report.cpp.
#pragma once

#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "report_arguments.h"

namespace monitor {

// Prints the table. Throws Error: nothing was counted.
void report_counts(const ReportArguments &arguments, trace::Trace &trace, const analyze::RecordingInfo &info);

} // namespace monitor
