// SPDX-License-Identifier: MIT
// For record --states: compares the recorded run lengths with those computed from the tokens.
#pragma once

#include "check.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor::check {

void judge_states(trace::Trace &trace, const RecordingInfo &info, Statements &statements);

} // namespace monitor::check
