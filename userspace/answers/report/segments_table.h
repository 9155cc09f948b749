// SPDX-License-Identifier: MIT
// Answers "what was counted from here to there": a row per pair of resets and process, thread or CPU.
#pragma once

#include <string>

#include "reading/analyze/recording_info.h"
#include "reading/analyze/segments.h"
#include "table.h"

namespace monitor::report {

Table segments_table(const analyze::SegmentFold &fold, const analyze::CountersInfo &info, const trace::Clock &clock);

// What is in no row, or in a wrong one, with the reason; "": nothing.
std::string segments_text(const analyze::SegmentFold &fold, const analyze::RecordingInfo &info);

} // namespace monitor::report
