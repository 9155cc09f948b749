// SPDX-License-Identifier: MIT
// The distribution of a row's values in bins. Made by statistics_table.cpp and times_table.cpp, printed by the former
// and drawn by answers/plot/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace monitor::report {

struct Bin {
	std::string first, last; // printed: "1.02 us", or a plain number
	std::uint64_t count = 0;
};

struct Bins {
	std::string row;       // its label, printable
	std::vector<Bin> bins; // ascending; empty bins in between are included
};

} // namespace monitor::report
