// SPDX-License-Identifier: MIT
// Compares recordings that have only the numbers of events (record --statistics --count-only): how often each event
// happened per second, before and after.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "answers/report/table.h"
#include "reading/events/trace.h"
#include "side.h"

namespace monitor::diff {

// Whether all have only numbers. Throws Error: some have, and times cannot be compared with numbers.
bool have_counts_only(const std::vector<Part> &before, const std::vector<Part> &after);

struct ComparedCounts {
	report::Table table; // by the size of the change; a count that one side lacks is unknown
	std::vector<std::string> notes;
};

// `open`: opens a directory; may print warnings.
ComparedCounts compare_counts(const std::vector<Part> &before, const std::vector<Part> &after,
			      const std::function<trace::Trace(const std::string &)> &open);

} // namespace monitor::diff
