// SPDX-License-Identifier: MIT
// Prints a comparison: as text, CSV or JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "answers/report/table.h"
#include "comparison.h"

namespace monitor::diff {

struct PrintedSide {
	std::vector<Measured> repetitions;
	std::string command, host, kernel; // of the first recording
};

struct Printed {
	PrintedSide before, after;
	Comparison comparison;
	std::vector<std::string> notes; // differences of the recordings
};

// `max_rows` of each ranking; `max_width` as in report::to_text().
std::string comparison_text(const Printed &printed, std::size_t max_rows, std::size_t max_width);
// The rows of all rankings.
std::string comparison_csv(const Printed &printed, std::size_t max_rows);
std::string comparison_json(const Printed &printed, std::size_t max_rows);

} // namespace monitor::diff
