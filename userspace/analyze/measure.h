// SPDX-License-Identifier: MIT
// A measurement of a thread, a process or a whole machine, from what was counted in its time. Used by the reports.
#pragma once

#include <optional>

#include "counter_fold.h"

namespace monitor::analyze {

struct Measured {
	std::optional<double> value; // empty: unknown, 0/0, or never counted
	// The share of the time in which all of its counters were counting: 1 is exact, less is an estimate scaled up.
	double counting = 1;
	// Of normalised ratios: nothing is left of the numerator, so it is less than this and no more is known.
	std::optional<double> below;
};

Measured measure(const Measurement &measurement, const CounterSums &sums, const CountersInfo &info,
		 const trace::Clock &clock);

} // namespace monitor::analyze
