// SPDX-License-Identifier: MIT
// A trace as packets of Perfetto: the kernel's events as ftrace has them (perfetto_ftrace.h), activities, counters and
// wake-ups as track events (perfetto_tracks.h). For `monitor convert`.
//
// Times are those of the trace's clock in ns, as Perfetto's clock MONOTONIC_RAW; each read of the machine's clocks that
// the recorder made relates it to MONOTONIC and REALTIME.
#pragma once

#include "conversion.h"
#include "output.h"

namespace monitor::exporting {

struct PerfettoOptions {
	analyze::Scope scope;
	bool flows = false; // an arrow from each thread that wakes another
};

// One pass, in bounded memory. Damage is added to the trace's problems. Throws Error.
Converted write_perfetto(trace::Trace &trace, const analyze::RecordingInfo &info, const PerfettoOptions &options,
			 Output &output);

} // namespace monitor::exporting
