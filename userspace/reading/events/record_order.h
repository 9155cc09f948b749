// SPDX-License-Identifier: MIT
// Sorts the records of a file whose times may step back (TDL), because a clock was set while it was written, or because
// records are written when something ends. All readers of a trace rely on times that only grow.
// A file is copied if that takes little memory. Otherwise, and if it is damaged or has segments, it is read unsorted: a
// record that steps back has the latest time before it (decoder.h). Both are reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stream.h"

namespace monitor::trace {

struct RecordOrder {
	std::uint64_t records = 0, step_back = 0;
	std::uint64_t first = 0;       // index in the file of the first record that steps back
	std::vector<std::byte> sorted; // the file with sorted records; empty: it is read unsorted

	// "N of M records ..."
	std::string text() const;
};

// For a file described in TDL.
RecordOrder order_records(const Stream &file);

} // namespace monitor::trace
