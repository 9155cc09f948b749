// SPDX-License-Identifier: MIT
// Is a recording of statistics true? Its periods must be adjacent, and their counts agree with those of the probes and
// the kernel. Replaces check.cpp's statements about events.
#pragma once

#include "check.h"

namespace monitor::check {

void judge_statistics(trace::Trace &trace, const RecordingInfo &info, Statements &statements);

} // namespace monitor::check
