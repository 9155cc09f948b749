// SPDX-License-Identifier: MIT
// What `record --count` counted and --time timed in the kernel, against the tokens of the same recording.
// Called by cmd_check.cpp.
#pragma once

#include <vector>

#include "reading/analyze/check.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor {

// Adds a statement for each count, and for each time.
void check_counts(trace::Trace &trace, const analyze::RecordingInfo &info, std::vector<analyze::Statement> &statements);

} // namespace monitor
