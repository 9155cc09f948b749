// SPDX-License-Identifier: MIT
// What is wrong with a trace, on standard error, below what could be read. Used by the subcommands that read all of it.
#pragma once

#include "trace/problem.h"

namespace monitor {

// The first ten, and how many more there are.
void print_problems(const trace::Problems &problems);

} // namespace monitor
