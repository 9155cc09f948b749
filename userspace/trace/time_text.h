// SPDX-License-Identifier: MIT
// A point in a trace as people write it.
//
// Called by the subcommands that take --from and --to; the ticks go into a TimeRange (merge.h). Local time is that of
// the machine that reads. A time of day without a date is the first one not before the trace's begin, if the trace
// still runs then, else that of the day the trace began on.
#pragma once

#include <cstdint>
#include <string>

#include "trace.h"

namespace monitor::trace {

// SECONDS[.FRACTION] from the start of the trace, HH:MM:SS[.FRACTION] or "YYYY-MM-DD HH:MM:SS[.FRACTION]" in local
// time. Gives the first tick of that nanosecond; with `last`, the last one. Throws Error naming `option` if it is none
// of these.
std::uint64_t parse_time(const std::string &text, const char *option, const Trace &trace, bool last);

} // namespace monitor::trace
