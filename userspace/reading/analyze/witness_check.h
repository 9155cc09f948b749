// SPDX-License-Identifier: MIT
// Statements about the recorder's own system calls before and after a recording (record side:
// recording/card/witness.h): the probes saw exactly the calls that were made, and their times lie between the direct
// TSC reads around each. Part of check.cpp.
#pragma once

#include <vector>

#include "check.h"

namespace monitor::analyze {

void judge_witness(const RecordingInfo &info, const trace::Clock &clock, std::vector<Statement> &statements);

} // namespace monitor::analyze
