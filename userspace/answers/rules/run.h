// SPDX-License-Identifier: MIT
// Checks all rules against a trace in one pass, and reports the results.
//
// Only if something is violated is the trace read a second time, as far as needed: then the events to show are
// formatted as `monitor list` prints them. One thread. Invariant: a rule that could not be applied to anything is not
// checked; it does not hold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "judge.h"
#include "reading/events/trace.h"
#include "rule_file.h"

namespace monitor::rules {

struct Options {
	std::size_t violations = 5; // shown of each rule
	bool json = false;          // their events as JSON
};

struct Shown {
	std::string what;
	std::vector<std::string> events; // lines without the newline
};

struct Outcome {
	enum class Verdict { holds, fails, not_checked } verdict = Verdict::not_checked;
	std::string name;
	std::string text; // one sentence, starts with the name
	Tally tally;
	std::vector<Shown> shown;
};

// In the order of the rules. Throws Error if a rule does not fit the trace.
std::vector<Outcome> run(trace::Trace &trace, const std::vector<RuleText> &texts, const Options &options);

} // namespace monitor::rules
