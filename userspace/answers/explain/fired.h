// SPDX-License-Identifier: MIT
// What a snapshot of a flight recorder was taken for: the thread that made a trigger fire, and since when.
#pragma once

#include <optional>
#include <string>

#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor::explain {

struct FiredFor {
	std::string trigger;
	std::int32_t tid = 0;
	trace::TimeRange range; // from its first event, if it needs several, or from the snapshot's start
};

// Reads the trace. Nothing: it is no snapshot of a trigger, or the thread is not known.
std::optional<FiredFor> fired_for(const trace::Trace &trace, const analyze::RecordingInfo &info);

} // namespace monitor::explain
