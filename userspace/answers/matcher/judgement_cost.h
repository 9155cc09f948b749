// SPDX-License-Identifier: MIT
// The cost of a matcher, for `monitor filter` and `monitor trigger`.
#pragma once

#include "base/event_matcher.h"

namespace monitor::matcher {

// The time to match an event of this class, in ns: the median of some rounds with random values. The kernel runs the
// same code, and also fetches the values.
double judgement_ns(const EventMatcher &matcher, unsigned id);

} // namespace monitor::matcher
