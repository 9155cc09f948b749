// SPDX-License-Identifier: MIT
// Checks the hosts' clock lines (piecewise linear conversions to the reference clock, answers/collection/clock_lines.h)
// against messages from host to host: collection.json against RUN/.monitor/clock_loops/HOST.
// The collector has relayed questions from host to host (fleet/collector/clock_relays.h): FROM sent one when its clock
// showed `sent`, before HOST received it when its own showed `received`. The offsets from FROM to the reference, from
// there to HOST by the lines, and back by such messages form a loop, whose sum is 0. So a message that arrives before
// it was sent, by more than both hosts' bounds, proves that a bound is too small. Invariant: invalid or unknown data is
// not a message; it is counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answers/check/check.h"
#include "reading/events/trace.h"

namespace monitor::fleet {

struct LoopMessage {
	std::string from, from_boot, boot;
	std::uint64_t sent = 0, received = 0; // ticks of the respective clock
};

// Invalid lines are left out and counted; an unterminated last one is still being written.
std::vector<LoopMessage> parse_loops(std::string_view untrusted_text, std::uint64_t &damaged);

struct JudgedLoops {
	std::uint64_t messages = 0; // with known lines of both hosts at that time
	std::uint64_t early = 0;    // messages that arrive before they were sent
	std::uint64_t unknown = 0;  // a bound is unknown there, or the boot differs
	std::uint64_t damaged = 0;
	std::string first_early; // its hosts: "FROM to HOST"
	std::uint64_t loops = 0; // pairs of hosts with messages in both directions
	// The largest uncertainty of a loop: by its fastest messages, the sum of its offsets is at most this far from
	// 0.
	std::uint64_t max_open_ns = 0;
};

JudgedLoops judge_loops(const std::string &run);

// Adds the statement `clock_loop` if the trace is a fleet's run.
void judge_clock_loops(const trace::Trace &trace, const std::string &run, std::vector<check::Statement> &statements);

} // namespace monitor::fleet
