// SPDX-License-Identifier: MIT
// Statements about the recorder's own system calls before and after a recording (record side:
// recording/calibration/witness.h): the probes saw exactly the calls that were made, and their times lie between the
// direct TSC reads around each. Part of check.cpp.
#pragma once

#include "check.h"

namespace monitor::check {

// Of the calls alone; of their entries, if only these are counted.
Statement judge_calls(const RecordingInfo &info);

void judge_witness(const RecordingInfo &info, const trace::Clock &clock, Statements &statements);

} // namespace monitor::check
