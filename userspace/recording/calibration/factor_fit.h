// SPDX-License-Identifier: MIT
// Fits, from the measured overhead of programs, how much more an event costs in real code than in loops: a factor and
// its range for each group of families.
#pragma once

#include <string>
#include <vector>

#include "kept_factors.h"

namespace monitor::card {

// "syscall", "fault", or "other".
std::string factor_group(const std::string &family);

// Weighted least squares over the loads' overheads. A factor's range covers its own uncertainty and the loads'
// intervals, but at least `min_spread` both ways. Throws Error if the range is too wide to be useful.
recording_file::CodeFactors fit_factors(const std::vector<LoadCost> &loads);

inline constexpr double min_spread = 0.5; // 11 of 13 programs that are not among the loads differ by less (cost.md)

} // namespace monitor::card
