// SPDX-License-Identifier: MIT
// Prints errors, and damaged parts of a trace, on standard error after what could be read.
#pragma once

#include <string_view>

#include "base/note.h"
#include "reading/events/problem.h"

namespace monitor {

// "monitor: SENTENCE". Names in it may be any bytes; further lines are indented so that they do not pass for ours.
void print_error(std::string_view sentence);

// Prints the first ten, and how many more there are. Returns the exit code: 1 if there are any.
int print_problems(const trace::Problems &problems);

} // namespace monitor
