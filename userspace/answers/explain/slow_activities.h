// SPDX-License-Identifier: MIT
// Which activities of a name took longest in a trace, and what they did that ordinary ones did not (slow_parts.h).
#pragma once

#include <cstddef>
#include <string>

#include "answers/selection/selection.h"
#include "reading/events/trace.h"
#include "slow_parts.h"
#include "thresholds.h"

namespace monitor::explain {

struct SlowQuestion {
	const selection::Selection &selection;
	std::string activity, call, key; // one of them
	std::size_t slowest = 10;        // how many, at most a quarter of all
};

// Reads the trace twice. Throws Error.
SlowActivities slow_activities(trace::Trace &trace, const SlowQuestion &question, const Thresholds &thresholds);

} // namespace monitor::explain
