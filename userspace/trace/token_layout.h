// SPDX-License-Identifier: MIT
// Is it monitor's own layout? Then events are tokens, and reading one is a load and a table look-up.
//
// Called by the interpretation (interpret.cpp) with what the description says of packets and events. The layouts of
// include/monitor (packet header and context of ring.h, token of token.h) are compared field by field; a trace that
// differs anywhere is read as any other (layout.h), only slower.
#pragma once

#include <memory>
#include <vector>

#include "description.h"

namespace monitor::trace {

bool is_token_layout(const Layout &layout, const std::vector<std::shared_ptr<EventClass>> &classes);

// The class as one of tokens: its payload's fields get their places. is_token_layout() said yes.
EventClass token_class(const EventClass &described);

} // namespace monitor::trace
