// SPDX-License-Identifier: MIT
// `monitor report DIR triggers`: the firings that a trace has. Called by cmd_report.cpp.
#pragma once

#include "answers/report/triggers_table.h"
#include "report_arguments.h"

namespace monitor {

void report_triggers(const ReportArguments &arguments, trace::Trace &trace, const analyze::RecordingInfo &info);

} // namespace monitor
