// SPDX-License-Identifier: MIT
// `monitor check --rules`: a user's rules, or shipped ones, as statements about a trace. Called by cmd_check.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reading/events/trace.h"

namespace monitor {

// Prints a statement for each rule, and up to `violations` violations of each rule that fails. Returns the exit code: 1
// if a rule fails or parts of the trace are damaged. Throws Error.
int check_rules(trace::Trace &trace, const std::vector<std::string> &files, std::size_t violations, bool quiet,
		bool json);

} // namespace monitor
