// SPDX-License-Identifier: MIT
// What `monitor check` says of record --states: the recorder's run lengths beside those that the tokens have.
#pragma once

#include "check.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor::check {

void judge_states(trace::Trace &trace, const RecordingInfo &info, Statements &statements);

} // namespace monitor::check
