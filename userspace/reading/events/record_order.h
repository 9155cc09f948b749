// SPDX-License-Identifier: MIT
// The records of a file whose times may step back (TDL), in the order of their times: a clock that was set while a file
// was written, a record that is written when something ends. Called by Trace::open(), as all that reads a trace counts
// on times that only grow.
//
// A file is copied if that takes little memory. Otherwise, and if it is damaged or has segments, it is read as it is: a
// record that steps back has the latest time before it (decoder.h). Both is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stream.h"

namespace monitor::trace {

struct RecordOrder {
	std::uint64_t records = 0, step_back = 0;
	std::uint64_t first = 0;       // of those that step back: its number in the file, from 0
	std::vector<std::byte> sorted; // the file with its records in order; empty: it is to be read as it is

	// "N of M records ..."
	std::string text() const;
};

// Of a file described in TDL.
RecordOrder order_records(const Stream &file);

} // namespace monitor::trace
