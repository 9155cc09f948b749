// SPDX-License-Identifier: MIT
// Checks for monitor's own layout: then events are tokens, and reading one is a load and a table look-up.
//
// Called by the interpretation (interpret.cpp) with the packets and events of the description. The layouts of
// include/monitor (packet header and context of ring.h, token of token.h) are compared field by field; a trace that
// differs anywhere is read like any other (layout.h), only slower.
#pragma once

#include <memory>
#include <vector>

#include "description.h"

namespace monitor::trace {

bool is_token_layout(const Layout &layout, const std::vector<std::shared_ptr<EventClass>> &classes);

// Makes a token class of it, with offsets for the payload's fields. Requires that is_token_layout() returned true.
EventClass token_class(const EventClass &described);

} // namespace monitor::trace
