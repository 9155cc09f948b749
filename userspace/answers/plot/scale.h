// SPDX-License-Identifier: MIT
// The scale of an axis: its range, and round numbers on it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "chart.h"

namespace monitor::plot {

// Invariant: low <= 0 <= high, low < high, all finite. Their difference may overflow a double.
struct Scale {
	double low = 0, high = 1;

	// The position of a value, from 0 to 1.
	double share(double value) const { return std::clamp((value / 2 - low / 2) / (high / 2 - low / 2), 0.0, 1.0); }
};

// For all values of the bars, or of one series; both include 0, so that lengths are comparable.
Scale scale_of(const std::vector<Bar> &bars);
Scale scale_of(const Series &series);
Scale joined(const Scale &a, const Scale &b);

// Multiples of 1, 2 or 5 times a power of ten, at most this many.
std::vector<double> ticks_of(const Scale &scale, std::size_t max_ticks);
// "2.5 ms", "40 k", "75 %"
std::string tick_text(double value, report::Unit unit);

} // namespace monitor::plot
