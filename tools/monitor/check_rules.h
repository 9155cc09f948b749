// SPDX-License-Identifier: MIT
// `monitor check --rules`: rules of a user, or shipped ones, as statements about a trace. Called by cmd_check.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace monitor {

// Prints a statement per rule, and of each that fails so many violations. The exit code: 1 if a rule fails, or if parts
// of the trace are damaged. Throws Error.
int check_rules(trace::Trace &trace, const std::vector<std::string> &files, std::size_t violations, bool quiet,
		bool json);

} // namespace monitor
