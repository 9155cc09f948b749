// SPDX-License-Identifier: MIT
// What `monitor check` says of record --states: the recorder's run lengths beside those that the tokens have.
#pragma once

#include <vector>

#include "reading/analyze/check.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor {

void check_states(trace::Trace &trace, const analyze::RecordingInfo &info, std::vector<analyze::Statement> &statements);

} // namespace monitor
