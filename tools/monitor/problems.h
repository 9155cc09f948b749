// SPDX-License-Identifier: MIT
// What is wrong, on standard error: an error, or parts of a trace, below what could be read. Used by all subcommands.
#pragma once

#include <string_view>

#include "trace/problem.h"

namespace monitor {

// "monitor: SENTENCE". Names in it may be any bytes; a line of theirs is indented, so that it is not taken for ours.
void print_error(std::string_view sentence);

// The first ten, and how many more there are.
void print_problems(const trace::Problems &problems);

} // namespace monitor
