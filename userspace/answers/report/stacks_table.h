// SPDX-License-Identifier: MIT
// Answers "where in the program": the functions of a call tree by the amount spent in them, and the tree itself.
#pragma once

#include <string>

#include "call_tree.h"
#include "reading/analyze/recording_info.h"
#include "reading/ctf/clock.h"
#include "table.h"

namespace monitor::report {

// A row per function, largest first.
Table stacks_table(const CallTree &tree, const trace::Clock &clock, StackBy by);

// The calls with at least `min_share` of the total, indented; a recursive function once, with the number of its calls.
// Lines are cut at `max_width` characters, 0: never.
std::string calls_text(const CallTree &tree, const trace::Clock &clock, StackBy by, double min_share,
		       std::size_t max_width);

// How much has no stack, or an incomplete one.
std::string stacks_text(const CallTree &tree, const analyze::RecordingInfo &info, StackBy by);
std::string stacks_json(const CallTree &tree, const trace::Clock &clock, const analyze::RecordingInfo &info,
			StackBy by);

} // namespace monitor::report
