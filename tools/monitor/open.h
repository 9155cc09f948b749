// SPDX-License-Identifier: MIT
// Opens the traces given to a subcommand. Warns on standard error about ignored parts of their metadata, and if nothing
// was recorded.
#pragma once

#include <string>
#include <vector>

#include "reading/events/trace.h"

namespace monitor {

// Like Trace::open().
trace::Trace open_trace(const std::vector<std::string> &directories, const std::string &tdl = "");

// Throws Error for a recording of statistics: `what` ("a view") needs events.
void expect_events(const trace::Trace &trace, const std::string &what);
// Throws Error for a recording with --count-only: `what` needs times.
void expect_times(const trace::Trace &trace, const std::string &what);

} // namespace monitor
