// SPDX-License-Identifier: MIT
// Estimates the relative CPU overhead of probes from pairs of measurements without and with them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "recording/calibration/phase_estimate.h"

namespace monitor::pilot {

struct Pair {
	double without = 0, with = 0; // CPU time, of the same work
	std::uint64_t lost = 0;       // events, with probes
};
inline constexpr std::uint64_t min_pairs = 3; // of runs: of fewer there is no interval

// None: no usable pairs.
std::optional<record::Median> share_of_pairs(const std::vector<Pair> &pairs);

// An interval without and one with probes, with different progress.
struct PhasePair {
	record::PhasePart without, with;
	std::uint64_t lost = 0; // events, with probes
};

// Measures progress by the kernel counter most proportional to CPU time while probes are attached. Phases are pooled in
// eight groups, or four if these have too little progress, because single phases differ in work. None: no counter
// advances.
std::optional<record::Median> share_of_phases(const std::vector<PhasePair> &phases);

} // namespace monitor::pilot
