// SPDX-License-Identifier: MIT
// Opens the traces given to a subcommand. Warns on standard error about parts of their descriptions that are left out,
// and if nothing was recorded: neither is an error. Says what needs events where there are statistics instead.
#pragma once

#include <string>
#include <vector>

#include "reading/events/trace.h"

namespace monitor {

// Like Trace::open().
trace::Trace open_trace(const std::vector<std::string> &directories, const std::string &tdl = "");

// Throws Error: a recording of statistics has no events, of which `what` ("a view") is made.
void expect_events(const trace::Trace &trace, const std::string &what);
// Throws Error: a recording of counts only (--count-only) has no times, of which `what` is made.
void expect_times(const trace::Trace &trace, const std::string &what);

} // namespace monitor
