// SPDX-License-Identifier: MIT
// Opens the traces given to a subcommand. Warns on standard error about parts of their descriptions that are left out,
// and if nothing was recorded: neither is an error. Used by the subcommands that read traces.
#pragma once

#include <string>
#include <vector>

#include "reading/events/trace.h"

namespace monitor {

// Like Trace::open().
trace::Trace open_trace(const std::vector<std::string> &directories, const std::string &tdl = "");

} // namespace monitor
