// SPDX-License-Identifier: MIT
// What `record --time` timed in the kernel, against the pairs of events among the tokens of the same recording. Called
// by check_counts.cpp.
#pragma once

#include <string>
#include <vector>

#include "reading/analyze/check.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor {

// Adds a statement for each time. `why_not`: why the tokens are not all of them, or "".
void check_times(trace::Trace &trace, const analyze::RecordingInfo &info, const std::string &why_not,
		 std::vector<analyze::Statement> &statements);

} // namespace monitor
