// SPDX-License-Identifier: MIT
// Statements about the recorder's own system calls before and after a recording (record side:
// recording/calibration/witness.h): the probes saw exactly these calls, and their times lie between the direct TSC
// reads around each. Part of check.cpp.
#pragma once

#include "check.h"

namespace monitor::check {

// Judges the number of calls, not their times; or of entries, if only these were counted.
Statement judge_calls(const RecordingInfo &info);

void judge_witness(const RecordingInfo &info, const trace::Clock &clock, Statements &statements);

} // namespace monitor::check
