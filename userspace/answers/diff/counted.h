// SPDX-License-Identifier: MIT
// Compares recordings that have only the numbers of events (record --statistics --count-only): how often each event
// happened in a second, before and after. Called by cmd_diff.cpp in place of recordings.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "answers/report/table.h"
#include "reading/events/trace.h"
#include "side.h"

namespace monitor::diff {

// Whether all of them have. Throws Error: some have, and times are not compared with numbers.
bool have_counts_only(const std::vector<Part> &before, const std::vector<Part> &after);

struct ComparedCounts {
	report::Table table; // by the size of the change; an event that one side did not count is unknown there
	std::vector<std::string> notes;
};

// `open`: a directory; may warn about it.
ComparedCounts compare_counts(const std::vector<Part> &before, const std::vector<Part> &after,
			      const std::function<trace::Trace(const std::string &)> &open);

} // namespace monitor::diff
