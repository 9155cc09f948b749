// SPDX-License-Identifier: MIT
// Statements about the clock: the bound proven by the clock snapshots, whether clock sets continue each other, the
// CPUs' skew. Part of check.cpp.
#pragma once

#include <string>
#include <vector>

#include "check.h"
#include "reading/analyze/clock_bound.h"

namespace monitor::check {

void judge_clock(const ClockBound &bound, const trace::Clock &clock, const RecordingInfo &info, std::uint64_t begin,
		 Statements &statements);

// "the system's clock was set by +7200.000 s at 3.2 s": some of the steps, in seconds after `begin`.
std::string real_time_text(const std::vector<trace::RealTimeStep> &steps, const trace::Clock &clock,
			   std::uint64_t begin);

} // namespace monitor::check
