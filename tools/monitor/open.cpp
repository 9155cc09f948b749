// SPDX-License-Identifier: MIT
#include "open.h"

#include "base/error.h"
#include "problems.h"
#include "reading/analyze/recording_info.h"

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

void expect_times(const trace::Trace &trace, const std::string &what)
{
	if (analyze::recording_of(trace).has_counts_only())
		throw Error("this recording has only the numbers of events (--count-only), from which {} cannot be "
			    "made: `monitor stat` shows them; for times record without --count-only",
			    what);
}

void expect_events(const trace::Trace &trace, const std::string &what)
{
	expect_times(trace, what);
	if (analyze::recording_of(trace).statistics)
		throw Error("this recording has statistics instead of events (--statistics), from which {} cannot be "
			    "made; what can: the reports cpu, syscalls, offcpu and activities, diff, query, and stat "
			    "without a table or --filter",
			    what);
}

} // namespace monitor
