// SPDX-License-Identifier: MIT
// The last stage of a description that is not of tokens: assigns slots to what the reader needs, resolves lengths, tags
// and clocks to their fields, and lists the fields of every event class.
//
// Called by the interpretation (interpret.cpp) when all streams and events are read. Throws Refusal. CTF 2 assigns
// slots by other rules (json_slots.h); the rest is the same.
#pragma once

#include <memory>
#include <vector>

#include "description.h"

namespace monitor::trace {

// `streams[i]` is that of `events[i]`. The description takes over the layout and the events.
void complete(std::unique_ptr<Layout> layout, const std::vector<std::shared_ptr<EventClass>> &events,
	      const std::vector<StreamClass *> &streams, Description &description);

// The part of it after all slots are assigned.
void list_all(std::unique_ptr<Layout> layout, const std::vector<std::shared_ptr<EventClass>> &events,
	      const std::vector<StreamClass *> &streams, Description &description);

} // namespace monitor::trace
