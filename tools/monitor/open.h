// SPDX-License-Identifier: MIT
// Opens the traces that a subcommand names, and says on standard error what their descriptions have that is left out,
// and whether nothing was recorded: neither is an error. Used by the subcommands that read traces.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace monitor {

// As Trace::open().
trace::Trace open_trace(const std::vector<std::string> &directories, const std::string &tdl = "");

} // namespace monitor
