// SPDX-License-Identifier: MIT
// The last stage of a description in generic CTF: assigns slots to what the reader needs, resolves lengths, tags and
// clocks to their fields, and lists the fields of every event class.
// Runs when all streams and events are read. Throws ParseError. CTF 2 assigns slots by other rules (json_slots.h); the
// rest is the same.
#pragma once

#include <memory>
#include <vector>

#include "description.h"

namespace monitor::trace {

// `streams[i]` is the stream class of `events[i]`. The description takes ownership of the layout and the events.
void complete(std::unique_ptr<Layout> layout, const std::vector<std::shared_ptr<EventClass>> &events,
	      const std::vector<StreamClass *> &streams, Description &description);

// The same without assigning slots, for those that are assigned already.
void list_all(std::unique_ptr<Layout> layout, const std::vector<std::shared_ptr<EventClass>> &events,
	      const std::vector<StreamClass *> &streams, Description &description);

} // namespace monitor::trace
