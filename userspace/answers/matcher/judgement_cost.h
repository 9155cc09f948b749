// SPDX-License-Identifier: MIT
// What a matcher costs, for `monitor filter` and `monitor trigger`.
#pragma once

#include "base/event_matcher.h"

namespace monitor::matcher {

// What the judgement of an event of this class takes, in ns: the median of some rounds of events with random values.
// It is the same code in the kernel, which also fetches the values.
double judgement_ns(const EventMatcher &matcher, unsigned id);

} // namespace monitor::matcher
