// SPDX-License-Identifier: MIT
// How far a process and its descendants have come, by counters that the kernel keeps anyway. Called by
// calibration_phases.cpp before and after each part of a phase.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>

#include <sys/types.h>

#include "monitor/progress.h"
#include "recording/card/bpf_card.h"

namespace monitor::record {

// Sums of all that ever ran there; of what was not waited for, only while it ran.
struct TreeProgress {
	bool is_known = false; // else the kernel refused, or the process is gone
	std::uint64_t cpu_ns = 0;
	std::array<std::uint64_t, EDC_PROGRESS_COUNTERS> count{};
};

// `threads`: those of the tree are added.
TreeProgress read_progress(const card::BpfCard &card, pid_t root, std::unordered_set<std::int32_t> &threads);

} // namespace monitor::record
