// SPDX-License-Identifier: MIT
// Opens counters that the kernel schedules together, for a trial (machine.cpp) and for a recording
// (recording/counting/counters.cpp).
#pragma once

#include <vector>

#include <linux/perf_event.h>

#include "base/fd.h"

namespace monitor::pmu {

// Calls perf_event_open(2) for each; the first one leads, and is not started. `pid` -1: whatever runs on the CPU.
// Returns none if one of them could not be opened; errno says why.
std::vector<Fd> open_group(std::vector<perf_event_attr> attributes, int pid, int cpu);

} // namespace monitor::pmu
