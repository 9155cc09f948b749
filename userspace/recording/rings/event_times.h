// SPDX-License-Identifier: MIT
// The results of record --time, from where they are folded: in each CPU's area, by the probes (monitor/timing.h). Read
// by Recording, in any thread; while probes run, the parts of a result may be some events apart.
#pragma once

#include <vector>

#include "base/recording_file/event_counts.h"
#include "recording/card/card_memory.h"

namespace monitor::record {

using recording_file::EventTime;

// Without a card there is nothing.
std::vector<EventTime> event_times(const std::vector<NamedTime> &times, const card::CardMemory *card);

} // namespace monitor::record
