// SPDX-License-Identifier: MIT
#include "open.h"

#include "problems.h"

namespace monitor {

trace::Trace open_trace(const std::vector<std::string> &directories, const std::string &tdl)
{
	trace::Trace trace = trace::Trace::open(directories, tdl);
	for (const std::string &warning : trace.warnings())
		print_error(warning);
	if (trace.is_empty() && trace.problems().empty())
		print_error(directories.front() + " is a trace without events");
	return trace;
}

} // namespace monitor
