// SPDX-License-Identifier: MIT
// A trace as a kernel trace of LTTng: names, fields and environment as Trace Compass and lttng-analyses expect them.
// For `monitor convert`.
//
// A directory `kernel` with `metadata` and a stream for each CPU (answers/collection/packet_writer.h); times are ticks
// of the trace's clock, unchanged.
#pragma once

#include <string>

#include "conversion.h"

namespace monitor::exporting {

// The directory must be empty or missing. One pass, in bounded memory. Damage is added to the trace's problems. On
// error, removes what was written and throws Error.
Converted write_lttng(trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::Scope &scope,
		      const std::string &directory);

} // namespace monitor::exporting
