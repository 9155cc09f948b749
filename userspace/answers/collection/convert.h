// SPDX-License-Identifier: MIT
// Converts a file in TDL to a CTF 1.8 directory: `metadata` and one file `stream`.
//
// Called when a collection is written (collection.h). The events have the same names, times, CPUs and fields; hidden
// fields are left out. One pass, in bounded memory. What is damaged is left out, and appears in the trace's problems
// and as a gap in the stream.
#pragma once

#include <cstdint>
#include <string>

#include "reading/events/trace.h"

namespace monitor::collection {

// The trace must be of one such file; `machine` is its new name. The directory must exist. Throws Error if it cannot be
// written, or a record is too large.
void convert(trace::Trace &trace, const std::string &directory, const std::string &machine, std::int64_t shift_ns);

} // namespace monitor::collection
