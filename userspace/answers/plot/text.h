// SPDX-License-Identifier: MIT
// A chart as text, for a terminal. Bars have eighths of a character where Unicode may be printed, else `#`.
//
// Invariants: no line is longer than the width, unless the width is below min_width; a value above 0 has a mark; what
// is unknown is hatched, or says so.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chart.h"

namespace monitor::plot {

struct Look {
	std::size_t width = 80; // characters
	bool has_unicode = false;
};

inline constexpr std::size_t min_width = 40;

std::string to_text(const Chart &chart, const Look &look);
// From top to bottom.
std::string to_text(const std::vector<Chart> &charts, const Look &look);

} // namespace monitor::plot
