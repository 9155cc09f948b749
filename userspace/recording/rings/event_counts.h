// SPDX-License-Identifier: MIT
// The totals of record --count, from where they are counted: in each CPU's area, per level of probes, by the cards; and
// in the drain, for events of programs. Read by Recording, in any thread.
#pragma once

#include <vector>

#include "base/recording_file/event_counts.h"
#include "recording/card/card_memory.h"
#include "recording/user_card/user_card.h"

namespace monitor::record {

using recording_file::EventCount;

// Either card may be missing.
std::vector<EventCount> event_counts(const std::vector<NamedExpression> &counts, const card::CardMemory *card,
				     const card::UserCard *users);

} // namespace monitor::record
