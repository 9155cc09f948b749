// SPDX-License-Identifier: MIT
// The last stage of a description that is not of tokens: what the reader needs gets its slots, lengths and tags find
// their fields, clocks theirs, and the fields of every event class are listed.
//
// Called by the interpretation (interpret.cpp) when all streams and events are read. Throws tsdl::Refusal.
#pragma once

#include <memory>
#include <vector>

#include "description.h"

namespace monitor::trace {

// `streams[i]` is that of `events[i]`. The layout and the events become the description's.
void complete(std::unique_ptr<Layout> layout, const std::vector<std::shared_ptr<EventClass>> &events,
	      const std::vector<StreamClass *> &streams, Description &description);

} // namespace monitor::trace
