// SPDX-License-Identifier: MIT
// Converts a file in TDL to a CTF 1.8 directory: `metadata` and one file `stream`.
// The events have the same names, times, CPUs and fields; hidden fields are omitted. One pass, in bounded memory.
// Damaged parts are omitted, and appear in the trace's problems and as a gap in the stream.
#pragma once

#include <cstdint>
#include <string>

#include "reading/events/trace.h"

namespace monitor::collection {

// The trace must be one such file; `machine` is its new name. The directory must exist. Throws Error if it cannot be
// written, or a record is too large.
void convert(trace::Trace &trace, const std::string &directory, const std::string &machine, std::int64_t shift_ns);

} // namespace monitor::collection
