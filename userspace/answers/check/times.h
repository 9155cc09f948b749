// SPDX-License-Identifier: MIT
// Compares what `record --time` computed in the kernel with the pairs of events among the tokens of the same recording.
#pragma once

#include <string>

#include "check.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor::check {

// Adds a statement per --time. `why_not`: why tokens are missing, or "".
void judge_times(trace::Trace &trace, const RecordingInfo &info, const std::string &why_not, Statements &statements);

} // namespace monitor::check
