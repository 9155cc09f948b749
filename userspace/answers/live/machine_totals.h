// SPDX-License-Identifier: MIT
// Totals of the whole machine in a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "live_fold.h"

namespace monitor::live {

// How the time of all CPUs was spent, in ticks, and what happened.
struct MachineTotals {
	analyze::Usage usage;
	std::uint64_t idle = 0, window = 0; // `window`: ticks of one CPU
	std::uint64_t switches = 0, wakings = 0, calls = 0, faults = 0, interrupts = 0, events = 0;
	std::uint64_t migrations = 0, minor_faults = 0, major_faults = 0; // completed faults
	std::map<std::string, std::uint64_t> interrupts_by_class;         // recorded classes: "local_timer"
	std::size_t threads = 0, running = 0, ready = 0, throttled = 0, blocked = 0, unknown = 0;
};

// For the window that has ended.
MachineTotals totals_of(const LiveFold &fold);

} // namespace monitor::live
