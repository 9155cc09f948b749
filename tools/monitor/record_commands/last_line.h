// SPDX-License-Identifier: MIT
// The last line of a recording: the first sentence of `monitor explain`, and the command that shows more.
#pragma once

#include <string>

#include "reading/analyze/recording_info.h"

namespace monitor {

// On standard error, only for a recorded command with a critical path. A child reads the trace, within a second and 250
// MB; if that fails, prints only the command to type. Not with MONITOR_EXPLAIN=no.
void print_first_sentence(const std::string &directory, const analyze::RecordingInfo &info);

} // namespace monitor
