// SPDX-License-Identifier: MIT
// Statements on the clock: the bound that the sync events prove, the clock sets' joints, the CPUs' skew. Part of
// check.cpp.
#pragma once

#include <vector>

#include "check.h"
#include "clock_bound.h"

namespace monitor::analyze {

void judge_clock(const ClockBound &bound, const trace::Clock &clock, const RecordingInfo &info, std::uint64_t begin,
		 std::vector<Statement> &statements);

} // namespace monitor::analyze
