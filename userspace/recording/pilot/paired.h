// SPDX-License-Identifier: MIT
// The share by which probes raise a command's CPU time, from pairs without and with them.
#pragma once

#include <optional>
#include <vector>

#include "recording/calibration/phase_estimate.h"

namespace monitor::pilot {

struct Pair {
	double without = 0, with = 0; // CPU time, of the same work
};

// None: there are no pairs with work.
std::optional<record::Median> share_of_pairs(const std::vector<Pair> &pairs);

// A time without and one with probes, in which the command did not do the same.
struct PhasePair {
	record::PhasePart without, with;
};

// By the counter of the kernel that advances most steadily with the CPU time while the probes are attached, of a group
// of phases at a time, for the work of a phase differs: eight groups, or four where these have too little. None: no
// counter advances.
std::optional<record::Median> share_of_phases(const std::vector<PhasePair> &phases);

} // namespace monitor::pilot
