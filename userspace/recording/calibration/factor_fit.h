// SPDX-License-Identifier: MIT
// From what programs paid for the probes to what other code pays: a factor for each group of families, with a range
// that holds for these programs.
#pragma once

#include <string>
#include <vector>

#include "kept_factors.h"

namespace monitor::card {

// "syscall", "fault", or "other".
std::string factor_group(const std::string &family);

// The factors that explain best, by their uncertainties, what the loads paid. Each factor's range: its own uncertainty,
// and as much as the loads' intervals demand, but at least `min_apart` both ways. Throws Error if that says nothing.
recording_file::CodeFactors fit_factors(const std::vector<LoadCost> &loads);

inline constexpr double min_apart = 0.5; // 11 of 13 programs that are not among the loads differ by less (cost.md)

} // namespace monitor::card
