// SPDX-License-Identifier: MIT
// Compares what the probes counted (record --statistics --count-only) with what the kernel counted meanwhile:
// /proc/stat's context switches, interrupts, softirqs and thread creations, its own count of page faults, and the calls
// that the recorder made itself. Part of statistics.cpp.
#pragma once

#include "check.h"

namespace monitor::check {

// Of a recording that was completed.
void judge_counted(const RecordingInfo &info, Statements &statements);

} // namespace monitor::check
