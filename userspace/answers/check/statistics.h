// SPDX-License-Identifier: MIT
// Is a recording of statistics true? Its periods follow each other, and what they counted is what the probes and the
// kernel counted. In place of check.cpp's other statements, which are of events.
#pragma once

#include "check.h"

namespace monitor::check {

void judge_statistics(trace::Trace &trace, const RecordingInfo &info, Statements &statements);

} // namespace monitor::check
