// SPDX-License-Identifier: MIT
// Whether a trace shows which threads used the CPUs: required by pictures, animations and comparisons.
#pragma once

#include <cstdint>
#include <string>

#include "reading/events/trace.h"
#include "recording_info.h"

namespace monitor::analyze {

// Throws Error with the reason: the trace has no events, or none of the scheduler, is of several machines, or its start
// and end contradict them. `name`: of the trace, for the message.
void expect_scheduling(const trace::Trace &trace, const RecordingInfo &info, const std::string &name = "this trace");

// Throws Error if these ticks, of the window in which all probes were attached, can only be from a damaged
// recording.json.
void expect_window(std::uint64_t begin, std::uint64_t end);

} // namespace monitor::analyze
