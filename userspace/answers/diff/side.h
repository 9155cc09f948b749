// SPDX-License-Identifier: MIT
// One side of a comparison as the user writes it: comma-separated recordings, each perhaps limited to a part of its
// time, `A@1s..2s`.
// A name that exists is a directory, whatever characters it has.
#pragma once

#include <string>
#include <vector>

#include "reading/events/merge.h"
#include "reading/events/trace.h"

namespace monitor::diff {

// A repetition: a recording, or a window of it. `from` and `to` are times as in `report --from --to`, "": the
// recording's.
struct Part {
	std::string directory, from, to;

	bool operator==(const Part &) const = default;
	bool is_window() const { return !from.empty() || !to.empty(); }
	std::string text() const;
};

// Throws Error: a directory is missing, a window has no bounds, or a repetition is given twice.
std::vector<Part> parse_side(const std::string &text);

// Throws Error, also if none of it is within `whole`, the recorded time.
trace::TimeRange range_of(const Part &part, const trace::Trace &trace, const trace::TimeRange &whole);

} // namespace monitor::diff
