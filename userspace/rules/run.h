// SPDX-License-Identifier: MIT
// All rules over a trace in one pass, and what came of them.
//
// Called by `monitor check --rules`. Only if something is violated the trace is read once more, as far as that: then
// the events to show are printed as `monitor list` prints them. One thread.
// Invariant: a rule that could not be applied to anything does not hold, it is not checked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "judge.h"
#include "rule_file.h"
#include "trace/trace.h"

namespace monitor::rules {

struct Options {
	std::size_t violations = 5; // of each rule are shown
	bool json = false;          // their events as JSON
};

struct Shown {
	std::string what;
	std::vector<std::string> events; // lines without their end
};

struct Outcome {
	enum class Verdict { holds, fails, not_checked } verdict = Verdict::not_checked;
	std::string name;
	std::string text; // one sentence, begins with the name
	Tally tally;
	std::vector<Shown> shown;
};

// In the order of the rules. Throws Error: a rule does not go with the trace.
std::vector<Outcome> run(trace::Trace &trace, const std::vector<RuleText> &texts, const Options &options);

} // namespace monitor::rules
