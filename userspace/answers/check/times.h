// SPDX-License-Identifier: MIT
// What `record --time` timed in the kernel, against the pairs of events among the tokens of the same recording.
#pragma once

#include <string>

#include "check.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor::check {

// Adds a statement for each time. `why_not`: why the tokens are not all of them, or "".
void judge_times(trace::Trace &trace, const RecordingInfo &info, const std::string &why_not, Statements &statements);

} // namespace monitor::check
