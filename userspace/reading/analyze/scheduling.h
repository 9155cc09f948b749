// SPDX-License-Identifier: MIT
// Whether a trace shows who used the CPUs: what pictures, animations and comparisons must know before they fold it.
#pragma once

#include <cstdint>
#include <string>

#include "reading/events/trace.h"
#include "recording_info.h"

namespace monitor::analyze {

// Throws Error with the reason: it has no events, or not those of the scheduler, or is of several machines. `name`:
// what the sentence calls it.
void expect_scheduling(const trace::Trace &trace, const RecordingInfo &info, const std::string &name = "this trace");

// Throws Error: these ticks, in which all probes were attached, come from a damaged recording.json.
void expect_window(std::uint64_t begin, std::uint64_t end);

} // namespace monitor::analyze
