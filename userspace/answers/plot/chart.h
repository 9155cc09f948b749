// SPDX-License-Identifier: MIT
// What is drawn: bars, a histogram or series, with titles and units, before anybody knows on what.
//
// Made by from_table.h from the rows that text and JSON print; drawn by text.h and svg.h. `monitor report --plot`,
// `monitor stat --svg` and `monitor archive history` are the callers. Invariants: an unknown value is an empty
// optional, never 0; labels and titles have no control characters.
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
	double unknown = 0; // drawn after the value, hatched: it may be more by this
	std::string text;   // the value, as the table prints it
};

struct Series {
	std::string label;
	report::Unit unit = report::Unit::count;
	std::vector<std::optional<double>> values; // one for each of the chart's times
};

struct Chart {
	enum class Kind { bars, histogram, series };

	Kind kind = Kind::bars;
	std::string title;
	std::string figure; // what the axis of the values shows
	report::Unit unit = report::Unit::count;
	std::vector<Bar> bars;      // also those of a histogram
	std::vector<double> times;  // of series: where each value is, ascending
	std::string begin, end;     // the first and the last of these in words
	std::vector<Series> series; // those of one figure have one scale
	bool has_one_scale = true;
	std::size_t left_out = 0; // series
};

} // namespace monitor::plot
