// SPDX-License-Identifier: MIT
// `record --ratio-format`: which measurements are recorded as normalised ratios (monitor/ratio.h) instead of counts.
#pragma once

#include <vector>

#include "recording/pmu/selection.h"

namespace monitor::record {

enum class RatioFormat { exact, rems16, rems32 };

struct RatioPair {
	std::size_t measurement = 0;                // in the selection
	std::size_t numerator = 0, denominator = 0; // counters, in the order of the recorded ratio
	bool inverse = false;                       // the recorded ratio is 1 / the measurement, which may exceed 1
};

// EDC_RATIO_BITS_*; 0 for exact counts.
unsigned bits_of(RatioFormat format);

// The first EDC_RATIO_PAIRS ratios of two events each.
std::vector<RatioPair> ratio_pairs(const pmu::Selection &selection);

// The slot in which a counter is read: set * EDC_COUNTERS_IN_SET + its position in the set.
unsigned slot_of(const pmu::Selection &selection, std::size_t counter);

// Marks measurements that cannot be recorded as a ratio as missing, with a reason, and removes sets that no ratio
// needs. Throws Error if nothing is left although everything requested could be counted.
void keep_ratios(pmu::Selection &selection);

} // namespace monitor::record
