// SPDX-License-Identifier: MIT
// A chart: bars, a histogram or series, with titles and units, independent of the output.
// Made by from_table.h from the rows that text and JSON print; drawn by text.h and svg.h. Invariants: an unknown value
// is an empty optional, never 0; labels and titles have no control characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "answers/report/table.h"

namespace monitor::plot {

struct Bar {
	std::string label;
	std::optional<double> value;
	double unknown = 0; // drawn hatched after the value, which may be up to this much more
	std::string text;   // the value, as the table prints it
};

struct Series {
	std::string label;
	report::Unit unit = report::Unit::count;
	std::vector<std::optional<double>> values; // one per time of the chart
};

struct Chart {
	enum class Kind { bars, histogram, series };

	Kind kind = Kind::bars;
	std::string title;
	std::string figure; // title of the values' axis
	report::Unit unit = report::Unit::count;
	std::vector<Bar> bars;      // also for a histogram
	std::vector<double> times;  // for series: the time of each value, ascending
	std::string begin, end;     // the first and the last time as text
	std::vector<Series> series; // series of one figure share a scale
	bool has_one_scale = true;
	std::size_t left_out = 0; // number of series
};

} // namespace monitor::plot
