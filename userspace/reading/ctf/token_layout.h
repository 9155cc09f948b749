// SPDX-License-Identifier: MIT
// Recognizes monitor's own layout, in which an event is a token: reading one is a load and a table look-up.
// The layouts of include/monitor (packet header and context of ring.h, token of token.h) are compared with the
// description field by field; a trace that differs anywhere is read like any other (layout.h), only more slowly.
#pragma once

#include <memory>
#include <vector>

#include "description.h"

namespace monitor::trace {

bool is_token_layout(const Layout &layout, const std::vector<std::shared_ptr<EventClass>> &classes);

// The class as a token class, with offsets of the payload's fields. Requires that is_token_layout() returned true.
EventClass token_class(const EventClass &described);

} // namespace monitor::trace
