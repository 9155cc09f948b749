// SPDX-License-Identifier: MIT
// What the clocks of several machines say about the order of their events, and whether messages contradict them.
// Called by cmd_check.cpp for a trace of several machines.
#pragma once

#include <string>
#include <vector>

#include "answers/collection/messages.h"
#include "reading/analyze/check.h"
#include "reading/events/trace.h"

namespace monitor {

// Adds the statement `order_between_hosts`, and `clock_of_host` for each host: how far off its clock is.
void check_order(trace::Trace &trace, std::vector<analyze::Statement> &statements);

// Adds the statement `clock_loop`, if the trace is a fleet's run: clock questions that went from host to host agree
// with the hosts' clocks.
void check_clock_loops(const std::string &run, std::vector<analyze::Statement> &statements);

// Adds the statement `causality`: no message arrives before it was sent. Throws Refusal or Error.
void check_causality(trace::Trace &trace, const collection::MessageText &text,
		     std::vector<analyze::Statement> &statements);

// While the machine was traced.
trace::MachineClock::Range bounds_of_clock(const trace::Trace &trace, std::size_t machine);
// "0.4 us to 12 us", and in how many windows it is unknown.
std::string bound_text(const trace::MachineClock::Range &range);

} // namespace monitor
