// SPDX-License-Identifier: MIT
// Progress of a process and its descendants, by counters that the kernel keeps anyway. Read before and after each part
// of a calibration phase.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>

#include <sys/types.h>

#include "monitor/progress.h"
#include "recording/card/bpf_card.h"

namespace monitor::record {

// Sums over the process tree, including waited-for children that have ended.
struct TreeProgress {
	bool is_known = false; // else the kernel refused, or the process is gone
	std::uint64_t cpu_ns = 0;
	std::array<std::uint64_t, EDC_PROGRESS_COUNTERS> count{};
};

// Adds the tree's threads to `threads`.
TreeProgress read_progress(const card::BpfCard &card, pid_t root, std::unordered_set<std::int32_t> &threads);

} // namespace monitor::record
