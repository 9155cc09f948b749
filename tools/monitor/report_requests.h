// SPDX-License-Identifier: MIT
// `monitor report RUN requests`: which host made a request slow. Called by cmd_report.cpp, of all traces together: they
// are read as one collection, on one clock.
#pragma once

#include "report_arguments.h"

namespace monitor {

// Returns the exit code. Throws Error.
int report_requests(const ReportArguments &arguments);

} // namespace monitor
