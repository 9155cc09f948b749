// SPDX-License-Identifier: MIT
// What the clocks of several machines prove about the order of their events, and whether messages contradict it.
#pragma once

#include <string>

#include "answers/collection/messages.h"
#include "check.h"
#include "reading/events/trace.h"

namespace monitor::check {

// Adds the statement `order_between_hosts`, and for each host `clock_of_host`, its clock's bound.
void judge_order(trace::Trace &trace, Statements &statements);

// Adds the statement `causality`: no message arrives before it was sent. Throws ParseError or Error.
void judge_causality(trace::Trace &trace, const collection::MessageText &text, Statements &statements);

// The bounds while the machine was traced.
trace::MachineClock::Range bounds_of_clock(const trace::Trace &trace, std::size_t machine);
// "0.4 us to 12 us", and the number of windows in which it is unknown.
std::string bound_text(const trace::MachineClock::Range &range);

} // namespace monitor::check
