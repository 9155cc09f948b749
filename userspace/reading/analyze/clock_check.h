// SPDX-License-Identifier: MIT
// Statements about the clock: the bound that the clock snapshots prove, the joints of the clock sets, the CPUs' skew.
// Part of check.cpp.
#pragma once

#include <vector>

#include "check.h"
#include "clock_bound.h"

namespace monitor::analyze {

void judge_clock(const ClockBound &bound, const trace::Clock &clock, const RecordingInfo &info, std::uint64_t begin,
		 std::vector<Statement> &statements);

} // namespace monitor::analyze
