// SPDX-License-Identifier: MIT
// A file in TDL as a directory in CTF 1.8: `metadata` and one file `stream`.
//
// Called when a collection is written (collection.h). The events have the same names, times, CPUs and fields; hidden
// fields are left out. One pass, in bounded memory. What is damaged is left out, told in the trace's problems, and a
// gap in the stream.
#pragma once

#include <cstdint>
#include <string>

#include "trace/trace.h"

namespace monitor::collection {

// The trace is of one such file; `machine` is what it is called from now on. The directory is there. Throws Error: it
// cannot be written, or a record is too large.
void convert(trace::Trace &trace, const std::string &directory, const std::string &machine, std::int64_t shift_ns);

} // namespace monitor::collection
