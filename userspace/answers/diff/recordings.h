// SPDX-License-Identifier: MIT
// Reads the recordings of both sides, one after the other, and compares them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "comparison_table.h"
#include "measure.h"
#include "side.h"

namespace monitor::diff {

struct ReadingOptions {
	std::set<RowKind> chosen; // empty: all, see compare()
	// Opens a directory; may print warnings.
	std::function<trace::Trace(const std::string &directory)> open = [](const std::string &directory) {
		return trace::Trace::open(directory);
	};
	bool with_stacks = true; // naming them needs files that are not in the trace
	// The part being read, its index, and the fraction of it that was read.
	std::function<void(const Part &, std::size_t, double)> progress{};
};

// Throws Error.
Printed compare_recordings(const std::vector<Part> &before, const std::vector<Part> &after,
			   const ReadingOptions &options);

} // namespace monitor::diff
