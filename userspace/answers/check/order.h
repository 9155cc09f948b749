// SPDX-License-Identifier: MIT
// What the clocks of several machines say about the order of their events, and whether messages contradict them.
#pragma once

#include <string>

#include "answers/collection/messages.h"
#include "check.h"
#include "reading/events/trace.h"

namespace monitor::check {

// Adds the statement `order_between_hosts`, and `clock_of_host` for each host: how far off its clock is.
void judge_order(trace::Trace &trace, Statements &statements);

// Adds the statement `causality`: no message arrives before it was sent. Throws Refusal or Error.
void judge_causality(trace::Trace &trace, const collection::MessageText &text, Statements &statements);

// While the machine was traced.
trace::MachineClock::Range bounds_of_clock(const trace::Trace &trace, std::size_t machine);
// "0.4 us to 12 us", and in how many windows it is unknown.
std::string bound_text(const trace::MachineClock::Range &range);

} // namespace monitor::check
