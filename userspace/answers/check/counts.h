// SPDX-License-Identifier: MIT
// Compares what `record --count` and --time computed in the kernel with the tokens of the same recording.
#pragma once

#include "check.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor::check {

// Adds a statement for each count, and for each time.
void judge_counts(trace::Trace &trace, const RecordingInfo &info, Statements &statements);

} // namespace monitor::check
