// SPDX-License-Identifier: MIT
// The value of a measurement for a thread, a process or a machine, from its counts.
#pragma once

#include <optional>

#include "counter_fold.h"

namespace monitor::analyze {

struct Measured {
	std::optional<double> value; // empty: unknown, 0/0, or never counted
	// The fraction of the time in which all its counters were counting: 1 is exact, less is an estimate scaled up.
	double counting = 1;
	// For normalised ratios with a numerator rounded to 0: the value is below this; no more is known.
	std::optional<double> below;
};

Measured measure(const Measurement &measurement, const CounterSums &sums, const CountersInfo &info,
		 const trace::Clock &clock);

} // namespace monitor::analyze
