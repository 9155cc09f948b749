// SPDX-License-Identifier: MIT
// What a recording ends with: the first sentence of `monitor explain`, and the command that shows more.
#pragma once

#include <string>

#include "reading/analyze/recording_info.h"

namespace monitor {

// On standard error, of a recorded command of which a path is known; of others nothing. A child reads the trace, for a
// second and with 250 MB at most, else only the command is named. Not with MONITOR_EXPLAIN=no.
void print_first_sentence(const std::string &directory, const analyze::RecordingInfo &info);

} // namespace monitor
