// SPDX-License-Identifier: MIT
// Compares the probes' counts (record --statistics --count-only) with the kernel's: /proc/stat's context switches,
// interrupts, softirqs and thread creations, its count of page faults, and the recorder's own system calls. Part of
// statistics.cpp.
#pragma once

#include "check.h"

namespace monitor::check {

// For a completed recording.
void judge_counted(const RecordingInfo &info, Statements &statements);

} // namespace monitor::check
