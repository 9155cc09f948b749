// SPDX-License-Identifier: MIT
// `monitor list DIR`: every event of a trace as a line. Called by main.cpp; a thin caller of userspace/trace.
#pragma once

#include <CLI/CLI.hpp>

namespace monitor {

// Adds the subcommand; when it is given it runs in the parse and sets exit_code. Throws Error.
void add_list(CLI::App &app, int &exit_code);

} // namespace monitor
